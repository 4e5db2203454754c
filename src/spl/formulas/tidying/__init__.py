"""Rewrites a formula the way people would write it, in milliseconds and without sympy."""
