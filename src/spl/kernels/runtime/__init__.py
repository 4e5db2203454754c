"""How kernels are compiled, cached on disk, linked to each other, and given random numbers. Imports numba, none of our folders."""
