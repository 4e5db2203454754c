"""Relations between states that hold along all trajectories: a curve or a surface on which they stay within the noise."""

from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from spl.dynamics.simple_terms import Term, write_sum
from spl.formulas.program import Vocabulary
from spl.formulas.text import to_text
from spl.formulas.tidying.tidy import tidy
from spl.kernels.programs import tokens as tk

Numbers = NDArray[np.float64]

HIDDEN_VARIATION = 0.5  # of the variance that noise alone causes: a combination of states that varies less is constant
SMALL_PART = 0.03  # of the largest term of a relation: smaller ones are left out
RELATION_DIGITS = 3


def find_relation(states: Numbers, noise: Numbers, names: Sequence[str]) -> str | None:
    """Return a relation between states [N, D] with some noise [D] as text: a linear one if there is one, else a quadratic one.

    Examples:
        >>> t = np.linspace(0.0, 6.0, 100)
        >>> circle = np.column_stack([np.cos(t), np.sin(t)])
        >>> find_relation(circle, np.array([0.01, 0.01]), ["x", "y"])
        'x**2 + y**2 = 1'
        >>> find_relation(np.column_stack([t, 2 * t + 1]), np.array([0.01, 0.01]), ["x", "y"])
        'y - 2*x = 1'
        >>> find_relation(np.column_stack([t, np.exp(t)]), np.array([0.01, 0.01]), ["x", "y"]) is None
        True
    """
    is_still = states.var(axis=0) <= HIDDEN_VARIATION * noise**2  # a number, and so is any product with it
    if states.shape[1] < 2 or is_still.any() or not (noise > 0).all():
        return None
    for degree in (1, 2):
        factors = list(_products(states.shape[1], degree))
        found = _find_least_variation(states, noise, factors)
        if found is not None:
            return _write(found, states, factors, names)
    return None


def _products(n_states: int, degree: int) -> Iterator[tuple[int, ...]]:
    for size in range(1, degree + 1):
        yield from combinations_with_replacement(range(n_states), size)


def _find_least_variation(states: Numbers, noise: Numbers, products: Sequence[tuple[int, ...]]) -> Numbers | None:
    """Return the factors of products [P] whose sum varies far less than the noise makes it; None if there are none."""
    size = np.sqrt(np.mean(states**2, axis=0))
    if not (size > 0).all():
        return None
    scaled, sd = states / size, noise / size
    chosen = list(products)
    while True:
        if len(chosen) < 2:
            return None
        factors, share = _least_share(scaled, sd, chosen)
        if share > HIDDEN_VARIATION:
            return None
        parts = np.abs(factors) * np.array([np.std(_product(scaled, each)) for each in chosen])
        is_large = (parts >= SMALL_PART * parts.max()) & (parts > 0)
        if is_large.all():
            break
        chosen = [each for each, is_kept in zip(chosen, is_large, strict=True) if is_kept]
    own = {each: factor / np.prod(size[list(each)]) for each, factor in zip(chosen, factors, strict=True)}
    return np.array([own.get(each, 0.0) for each in products])


def _least_share(states: Numbers, sd: Numbers, products: Sequence[tuple[int, ...]]) -> tuple[Numbers, float]:
    """Return the factors with which a sum of products varies least, as a share of the variance that noise causes."""
    values = np.column_stack([_product(states, each) for each in products])
    own = np.cov(values, rowvar=False).reshape(len(products), len(products))
    by_noise = np.zeros_like(own)
    for state, deviation in enumerate(sd):
        slopes = np.column_stack([_slope(states, each, state) for each in products]) * deviation
        by_noise += slopes.T @ slopes / len(states)
    chances, directions = np.linalg.eigh(by_noise)
    is_seen = chances > 1e-12 * chances.max()
    whitened = directions[:, is_seen] / np.sqrt(chances[is_seen])
    shares, vectors = np.linalg.eigh(whitened.T @ own @ whitened)
    return whitened @ vectors[:, 0], float(shares[0])


def _product(states: Numbers, factors: tuple[int, ...]) -> Numbers:
    return np.asarray(np.prod(states[:, list(factors)], axis=1))


def _slope(states: Numbers, factors: tuple[int, ...], state: int) -> Numbers:
    """Return the derivative of a product of states by one of them."""
    total = np.zeros(len(states))
    for place, factor in enumerate(factors):
        if factor == state:
            total += _product(states, factors[:place] + factors[place + 1 :])
    return total


def _write(found: Numbers, states: Numbers, products: Sequence[tuple[int, ...]], names: Sequence[str]) -> str:
    """Return a relation as text, with a factor of 1 for its last term."""
    found = found / found[np.flatnonzero(found)[-1]]
    words = Vocabulary(tuple(names))
    terms: list[tuple[Term, float]] = []
    value = 0.0
    for factor, product in zip(found.tolist(), products, strict=True):
        if factor:
            variables = tuple(words.variable_token(names[state]) for state in product)
            rounded = float(f"{factor:.{RELATION_DIGITS}g}")
            terms.append(((tk.MUL,) * (len(product) - 1) + variables, rounded))
            value += factor * float(np.mean(_product(states, product)))
    left = to_text(tidy(write_sum(words, terms)), RELATION_DIGITS)
    largest = max(abs(factor) * float(np.std(_product(states, p))) for factor, p in zip(found, products, strict=True))
    shown = 0.0 if abs(value) < SMALL_PART * largest else value
    return f"{left} = {shown:.{RELATION_DIGITS}g}"
