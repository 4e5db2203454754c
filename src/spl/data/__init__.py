"""What comes in: tables and files, datasets, trajectories. Imports `formulas`."""
