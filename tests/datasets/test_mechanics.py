"""Energy and inputs of mechanical systems."""

import numpy as np

from spl.datasets import make_cart_pole, make_double_pendulum, make_driven_pendulum


def test_the_double_pendulum_keeps_its_energy():
    data = make_double_pendulum(1000, masses=(1.3, 0.4), lengths=(0.8, 1.7), gravity=9.0)
    theta1, theta2, omega1, omega2 = data.clean.T
    motion = 0.5 * 1.7 * (0.8 * omega1) ** 2 + 0.5 * 0.4 * (1.7 * omega2) ** 2
    motion += 0.4 * 0.8 * 1.7 * omega1 * omega2 * np.cos(theta1 - theta2)
    height = -1.7 * 9.0 * 0.8 * np.cos(theta1) - 0.4 * 9.0 * 1.7 * np.cos(theta2)
    np.testing.assert_allclose(motion + height, (motion + height)[0], rtol=1e-8)


def test_the_force_on_the_cart_changes_its_energy_by_the_work_that_it_does():
    data = make_cart_pole(4000, 0.005)
    _, v, theta, omega = data.clean.T
    motion = 0.5 * 1.5 * v**2 + 0.5 * 0.5 * (0.5 * omega) ** 2 + 0.5 * 0.5 * v * omega * np.cos(theta)
    energy = motion - 0.5 * 9.81 * 0.5 * np.cos(theta)
    work = np.cumsum(0.005 * (data.u[1:, 0] * v[1:] + data.u[:-1, 0] * v[:-1]) / 2)
    np.testing.assert_allclose(energy[1:] - energy[0], work, atol=1e-3)


def test_an_input_is_smooth_bounded_and_the_same_for_every_seed():
    data = make_driven_pendulum(2000, seed=3, amplitude=2.0)
    assert 1.0 < np.max(np.abs(data.u)) <= 2.0
    assert np.max(np.abs(np.diff(data.u[:, 0]))) < 0.2
    np.testing.assert_array_equal(data.u, make_driven_pendulum(2000, seed=4, amplitude=2.0).u)
