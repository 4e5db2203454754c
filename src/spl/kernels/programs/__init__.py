"""One program on many rows: its values, derivatives and fitted constants, their accuracy, and prices of tokens and numbers.

Imports `runtime`.
"""
