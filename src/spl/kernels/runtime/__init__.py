"""How kernels are compiled, kept on disk, linked to each other, and given random numbers. Imports numba, none of our folders."""

import numba

from spl.kernels.runtime.numba_version import check_numba_version

check_numba_version(numba.__version__)
