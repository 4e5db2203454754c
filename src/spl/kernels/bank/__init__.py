"""The bank of small programs with distinct values, and the indexes by which entries are found. Imports `programs`, `runtime`."""
