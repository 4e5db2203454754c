"""What a formula is: operators, programs, text, grammars, systems, and edits of a formula. Imports `kernels`."""
