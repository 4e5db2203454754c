"""Which versions of numba the kernels can be compiled with."""

NEWEST_TESTED_NUMBA = (0, 68)  # this folder uses private parts of numba, which may change in any release


def check_numba_version(version: str) -> None:
    """Refuse a version of numba that is newer than the tested ones."""
    from spl.errors import SplError

    if tuple(map(int, version.split(".")[:2])) > NEWEST_TESTED_NUMBA:
        major, minor = NEWEST_TESTED_NUMBA
        raise SplError(
            f"numba {version} is installed; spl was tested with numba up to {major}.{minor}. "
            f'Install a tested version: pip install "numba<{major}.{minor + 1}"'
        )
