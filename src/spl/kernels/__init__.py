"""Everything compiled. Kernels know arrays and numbers, none of the project's classes; only they import numba."""
