"""Everything compiled. Kernels know arrays and numbers, none of the project's classes.

tokens         how a program is spelled in numbers
compiler       the decorator of all kernels and their cache
vector_math    branch-free elementary functions
evaluate       the values of a program
differentiate  the values and the derivative by each constant
fit            the constants of a program
search         the episodes of the tree search
"""
