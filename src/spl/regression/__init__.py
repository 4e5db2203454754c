"""From a dataset and a grammar to a front of formulas.

`discover` is the table of contents: it grows the trees, assesses what they find, and polishes the front. Imports `data`, `notation`,
`formulas` and `kernels`.
"""
