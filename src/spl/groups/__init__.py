"""One law for groups of rows, in which some numbers have a value for each group.

`discover` is the table of contents: it takes proposals from ordinary searches, fits them to all groups together, and decides what they
share. Imports `regression`, `data`, `formulas` and `kernels`.
"""
