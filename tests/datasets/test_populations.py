"""Conserved quantities of populations."""

import numpy as np

import spl.datasets


def test_shares_of_an_epidemic_add_up_to_one():
    np.testing.assert_allclose(spl.datasets.make_sir(100).clean.sum(axis=1), 1.0, rtol=1e-9)
