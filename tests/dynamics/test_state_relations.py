"""Relations between states are found where they hold within the noise, and nowhere else."""

import numpy as np
import pytest

from spl.dynamics.state_relations import find_relation

T = np.linspace(0.0, 10.0, 300)


def noisy(columns, noise, seed=0):
    states = np.column_stack(columns)
    return states + 0.3 * noise * np.random.default_rng(seed).standard_normal(states.shape)  # as fitted states have


@pytest.mark.parametrize(
    ("columns", "relation"),
    [
        ((np.exp(-T), 2 * np.exp(-T)), "y - 2*x = 0"),
        ((np.exp(-T), 1 - np.exp(-T)), "x + y = 1"),
        ((np.cos(T), 3 * np.sin(T)), "9*x**2 + y**2 = 9"),
        ((T, T**2), "y - x**2 = 0"),
    ],
)
def test_a_relation_is_written_down(columns, relation):
    found = find_relation(np.column_stack(columns), np.array([0.01, 0.01]), ["x", "y"])
    assert found in (relation, "x**2 - y = 0" if "x**2" in relation and "y -" in relation else relation)


def test_a_relation_is_found_under_noise():
    found = find_relation(noisy((np.cos(T), np.sin(T)), 0.05), np.array([0.05, 0.05]), ["x", "y"])
    assert found.replace("1.01", "1").replace("0.99", "1").count("**2") == 2


def test_a_spiral_has_none():
    spiral = np.exp(-0.1 * T)
    assert find_relation(noisy((spiral * np.cos(T), spiral * np.sin(T)), 0.01), np.array([0.01, 0.01]), "xy") is None


def test_what_only_the_noise_hides_is_a_relation():
    almost = noisy((np.cos(T), (1 + 0.01 * T / 10) * np.sin(T)), 0.05)
    assert find_relation(almost, np.array([0.05, 0.05]), "xy") is not None
    assert find_relation(almost, np.array([0.0005, 0.0005]), "xy") is None


def test_a_state_that_hardly_moves_is_no_relation():
    assert find_relation(np.column_stack([T, np.exp(T / 5), np.ones_like(T)]), np.full(3, 0.01), "xyz") is None


def test_one_state_has_no_relation():
    assert find_relation(T[:, np.newaxis], np.array([0.1]), ["x"]) is None
