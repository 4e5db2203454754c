"""How a formula is written elsewhere: LaTeX, MathML, terminals, sympy, programming languages. Imports `formulas`."""
