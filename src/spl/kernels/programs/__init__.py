"""One program on many rows: its values, derivatives, fitted constants, and the accuracy of all of these.

Imports `runtime`.
"""
