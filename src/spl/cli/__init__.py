"""The command `spl`. `main` lists the commands. Imports everything else."""
