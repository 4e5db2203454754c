"""What a formula is: operators, programs, text, grammars, and edits of a formula. Imports `kernels`."""
