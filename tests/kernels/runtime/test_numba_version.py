"""Which versions of numba are taken."""

import pytest

from spl.errors import SplError
from spl.kernels.runtime.numba_version import check_numba_version


@pytest.mark.parametrize("version", ["0.60.0", "0.68.1", "0.68.0rc1"])
def test_tested_versions_of_numba_are_taken(version):
    assert check_numba_version(version) is None


@pytest.mark.parametrize("version", ["0.69.0", "0.69.0rc1", "0.100.0", "1.0.0"])
def test_a_newer_numba_is_refused_with_the_remedy(version):
    with pytest.raises(SplError, match=rf'numba {version} is installed; .* up to 0\.68\. .*pip install "numba<0\.69"'):
        check_numba_version(version)
