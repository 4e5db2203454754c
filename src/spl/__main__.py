"""`python -m spl` is the command `spl`."""

from spl.cli.main import main

if __name__ == "__main__":
    main(prog_name="spl")
