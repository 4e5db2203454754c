"""Chaotic attractors: their default start is on them, and neighbours diverge."""

import numpy as np
import pytest

from spl.datasets import make_halvorsen, make_hyperchaotic_rossler, make_thomas

MAKERS = (make_thomas, make_halvorsen, make_hyperchaotic_rossler)


@pytest.mark.parametrize("make", MAKERS)
def test_a_tiny_change_of_the_start_grows_a_thousandfold(make):
    data = make()
    near = make(initial=tuple(data.clean[0] * (1 + 1e-7)))
    distance = np.linalg.norm((near.clean - data.clean) / data.clean.std(axis=0), axis=1)
    assert distance[-len(distance) // 10 :].max() > 1e3 * distance[0]


@pytest.mark.parametrize("make", MAKERS[:2])
def test_cyclic_systems_look_the_same_from_each_state(make):
    x, y, z = make(20).clean[0]
    turned = make(20, initial=(y, z, x)).clean
    np.testing.assert_allclose(turned, make(20).clean[:, [1, 2, 0]], rtol=1e-9)
