"""Sums of a few products of two factors that are close to a goal: all products are scored at once, and terms exchanged.

Laws of mechanics are sums of correlated products, such as a*v*cos(q - p) + b*w**2*sin(q - p) + c*sin(q). Greedy pursuit takes a wrong
term first and keeps it. Here the inner products of a vector r with all products a*b are one matrix product, A' diag(r) B. Starting
with products drawn from the best few, each is taken out in turn and the best of all put in, until nothing improves.
"""

from typing import NamedTuple

import numpy as np

from spl.kernels.bank.spatial_index import RANKED, insert_ranked
from spl.kernels.runtime.compiler import FAST_MATH, kernel, make_record
from spl.kernels.runtime.linking import linked_kernel
from spl.kernels.runtime.random import random_below

MAX_PRODUCT_TERMS = 5  # products of a sum
N_DRAWN = 12  # products that each term of a start is drawn from
MAX_EXCHANGES = 12  # of the terms of one start: most need less than five
SAME_PRODUCT = 1e-8  # squared sine of the angle below which a product adds no direction to those chosen
TINY = np.finfo(np.float64).tiny  # squared norms below it have lost digits
GRAM_RIDGE = 1e-13  # added to squared norms of 1, so that rounding makes no pivot of nearly dependent products negative
LEAST_GAIN = 1e-12  # share of the goal's square: smaller improvements are rounding
LANES = 4  # second factors whose inner products are computed together, so that each value of a first factor is read once for them
TILE = 16  # first factors that stay in the fastest cache while all second ones pass

# Scratch of an exchange
EXCHANGE = np.dtype(
    [
        ("chosen", np.int64, MAX_PRODUCT_TERMS),  # products of the sum
        ("others", np.int64, MAX_PRODUCT_TERMS),  # places in `chosen` of those that stay
        ("factor", np.float64, (MAX_PRODUCT_TERMS, MAX_PRODUCT_TERMS)),  # Cholesky factor of their inner products
        ("lower", np.float64, (MAX_PRODUCT_TERMS, MAX_PRODUCT_TERMS)),  # its inverse
        ("explained", np.float64, MAX_PRODUCT_TERMS),  # components of the goal along their orthonormal directions
        ("ranked", RANKED, N_DRAWN),
    ],
    align=True,
)


class FactorTable(NamedTuple):
    """A first and B second factors for each of S symbols, with N values each. Product a*b has the number b * A + a.

    From `row` on it is scratch of one tree; the rest is read-only and shared by all.
    """

    values: np.ndarray  # float64[S, A, N], of the first factors; the first B are the second ones
    few: np.ndarray  # float64[S, A, n], those on the rows on which products are compared, close together in memory
    entry: np.ndarray  # int64[S, A], of the bank; factor 0 is the number 1, which is not written
    n_first: np.ndarray  # int64[S], 0 if the symbol derives no sums of scaled products
    n_second: np.ndarray  # int64[S]
    is_distinct: np.ndarray  # bool[S, A * B], whether it can be written and no cheaper product has the same values
    row: np.ndarray  # float64[LANES * n]
    vector: np.ndarray  # float64[n]
    size: np.ndarray  # float64[A * B], 1 / norm of each product; 0 if it cannot be used
    goal: np.ndarray  # float64[A * B], its inner product with the goal, both of norm 1
    inner: np.ndarray  # float64[MAX_PRODUCT_TERMS, A * B], with the chosen products
    along: np.ndarray  # float64[A * B]
    own: np.ndarray  # float64[A * B], share of its square that the chosen products do not explain
    left: (
        np.ndarray
    )  # float64[A * B], its inner product with what they leave of the goal, then what it would explain of that
    work: np.record  # EXCHANGE


def make_exchange_scratch(n_products, n_rows):
    """Return the scratch of one tree, by field."""
    return {
        "row": np.zeros(LANES * n_rows),
        "vector": np.zeros(n_rows),
        "inner": np.zeros((MAX_PRODUCT_TERMS, n_products)),
        **{name: np.zeros(n_products) for name in ("size", "goal", "along", "own", "left")},
        "work": make_record(EXCHANGE),
    }


def bytes_of_exchange_scratch(n_products, n_rows):
    """Return the bytes of the scratch of one tree."""
    n_numbers = (MAX_PRODUCT_TERMS + 5) * n_products + (LANES + 1) * n_rows
    return n_numbers * np.dtype(np.float64).itemsize + EXCHANGE.itemsize


@kernel(fastmath=FAST_MATH)
def _dot_lanes(values, at, rows, n):
    """Return the dot products of a factor with four rows."""
    s0 = 0.0
    s1 = 0.0
    s2 = 0.0
    s3 = 0.0
    for j in range(n):
        v = values[at + j]
        s0 += v * rows[j]
        s1 += v * rows[n + j]
        s2 += v * rows[2 * n + j]
        s3 += v * rows[3 * n + j]
    return s0, s1, s2, s3


@kernel(fastmath=FAST_MATH)
def _dot_squares(values, at, rows, n):
    """Return the dot products of a factor's squares with four rows."""
    s0 = 0.0
    s1 = 0.0
    s2 = 0.0
    s3 = 0.0
    for j in range(n):
        v = values[at + j] * values[at + j]
        s0 += v * rows[j]
        s1 += v * rows[n + j]
        s2 += v * rows[2 * n + j]
        s3 += v * rows[3 * n + j]
    return s0, s1, s2, s3


@linked_kernel
def pair_factors(table, symbol, vector, vector_at, is_squared, out) -> None:
    """Put the inner products of a vector with all products into out[A * B]; with their squares if `is_squared`."""
    n, n_first, n_second = table.few.shape[2], table.n_first[symbol], table.n_second[symbol]
    values, row = table.few.reshape(-1), table.row
    first_row = symbol * table.few.shape[1]
    for tile in range(0, n_first, TILE):
        for b in range(0, n_second, LANES):
            n_lanes = min(LANES, n_second - b)
            for lane in range(LANES):
                at = (first_row + b + min(lane, n_lanes - 1)) * n
                for j in range(n):
                    v = values[at + j]
                    row[lane * n + j] = vector[vector_at + j] * (v * v if is_squared else v)
            for a in range(tile, min(tile + TILE, n_first)):
                at = (first_row + a) * n
                sums = _dot_squares(values, at, row, n) if is_squared else _dot_lanes(values, at, row, n)
                for lane in range(n_lanes):
                    out[(b + lane) * n_first + a] = sums[lane]


@linked_kernel
def score_products(table, symbol, rows, weights, goal) -> bool:
    """Fill `size` and `goal` for the goal rows[goal :], with the weights rows[weights :]; return whether it has a norm."""
    n = table.few.shape[2]
    square = 0.0
    for j in range(n):
        square += rows[weights + j] * rows[goal + j] * rows[goal + j]
    if not (square > 0.0 and np.isfinite(square)):
        return False
    pair_factors(table, symbol, rows, weights, True, table.size)
    norm = np.sqrt(square)
    for j in range(n):
        table.vector[j] = rows[weights + j] * (rows[goal + j] / norm)
    pair_factors(table, symbol, table.vector, np.int64(0), False, table.goal)
    size, inner, is_distinct = table.size, table.goal, table.is_distinct[symbol]
    for p in range(table.n_first[symbol] * table.n_second[symbol]):
        is_usable = is_distinct[p] and size[p] > TINY and size[p] < np.inf
        size[p] = 1.0 / np.sqrt(size[p]) if is_usable else 0.0
        inner[p] = inner[p] * size[p] if is_usable else 0.0
    return True


@linked_kernel
def choose_product(table, symbol, rows, weights, place, number) -> None:
    """Put a product into a place of the sum, and its inner products with all into that row of `inner`."""
    n, n_first = table.few.shape[2], table.n_first[symbol]
    values, inner = table.few.reshape(-1), table.inner[place]
    first_row = symbol * table.few.shape[1]
    a, b = (first_row + number % n_first) * n, (first_row + number // n_first) * n
    for j in range(n):
        table.vector[j] = rows[weights + j] * values[a + j] * values[b + j] * table.size[number]
    pair_factors(table, symbol, table.vector, np.int64(0), False, inner)
    for p in range(n_first * table.n_second[symbol]):
        inner[p] *= table.size[p]
    table.work.chosen[place] = number


@kernel
def _invert_factor(table, n_others):
    """Fill `lower` with the inverse of the Cholesky factor of the inner products of the products that stay, and `explained`."""
    work = table.work
    for i in range(n_others):
        for k in range(i + 1):
            total = table.inner[work.others[i], work.chosen[work.others[k]]] + (GRAM_RIDGE if i == k else 0.0)
            for m in range(k):
                total -= work.factor[i, m] * work.factor[k, m]
            work.factor[i, k] = np.sqrt(max(total, GRAM_RIDGE)) if i == k else total / work.factor[k, k]
    for i in range(n_others):
        work.explained[i] = 0.0
        for k in range(i + 1):
            total = 1.0 if i == k else 0.0
            for m in range(k, i):
                total -= work.factor[i, m] * work.lower[m, k]
            work.lower[i, k] = total / work.factor[i, i]
            work.explained[i] += work.lower[i, k] * table.goal[work.chosen[work.others[k]]]


@linked_kernel
def fill_gains(table, symbol, n_chosen, without) -> float:
    """Put what each product would explain of what the chosen ones leave, one of them left out, into `left`; return how much that is.

    Both are shares of the goal's square. `without` is the place that is left out; -1: none.
    """
    work, along, own, left = table.work, table.along, table.own, table.left
    n_products = table.n_first[symbol] * table.n_second[symbol]
    n_others = np.int64(0)
    for place in range(n_chosen):
        if place != without:
            work.others[n_others] = place
            n_others += 1
    _invert_factor(table, n_others)
    for p in range(n_products):
        own[p] = 1.0
        left[p] = table.goal[p]
    share = 1.0
    for i in range(n_others):
        _combine(table, i, n_products)
        explained = work.explained[i]
        for p in range(n_products):
            own[p] -= along[p] * along[p]
            left[p] -= explained * along[p]
        share -= explained * explained
    for p in range(n_products):
        left[p] = left[p] * left[p] / own[p] if own[p] > SAME_PRODUCT else 0.0
    return share


@kernel(fastmath=FAST_MATH)
def _combine(table, i, n_products):
    """Put the component of each product along the i-th orthonormal direction of the chosen ones into `along`."""
    work, along = table.work, table.along
    factor, inner = work.lower[i, 0], table.inner[work.others[0]]
    for p in range(n_products):
        along[p] = factor * inner[p]
    for k in range(1, i + 1):
        factor, inner = work.lower[i, k], table.inner[work.others[k]]
        for p in range(n_products):
            along[p] += factor * inner[p]


@kernel
def _find_largest(values, n):
    """Return the place of the largest value; the first in a tie."""
    best = np.int64(0)
    for p in range(1, n):
        if values[p] > values[best]:
            best = np.int64(p)
    return best


@kernel
def _draw_start(table, symbol, rows, weights, n_terms, random):
    """Choose products one after the other, each drawn from the few that explain most; return how many there are."""
    ranked, left = table.work.ranked, table.left
    n_products = table.n_first[symbol] * table.n_second[symbol]
    for place in range(n_terms):
        fill_gains(table, symbol, np.int64(place), np.int64(-1))
        n_ranked, least = 0, 0.0
        for p in range(n_products):
            if left[p] > least:
                n_ranked = insert_ranked(ranked, n_ranked, -left[p], np.int64(p))
                if n_ranked == N_DRAWN:
                    least = -ranked[N_DRAWN - 1].error
        if n_ranked == 0:
            return np.int64(place)
        number = ranked[random_below(random, n_ranked)].entry
        choose_product(table, symbol, rows, weights, np.int64(place), np.int64(number))
    return np.int64(n_terms)


@linked_kernel
def exchange_terms(table, symbol, rows, weights, n_terms, random) -> int:
    """Find products whose sum is close to the goal of `score_products`, from one random start; return how many are in `work.chosen`.

    Each in turn is replaced by the best of all, until none can be, or `MAX_EXCHANGES` were. In a tie the first one is taken.
    """
    n_chosen = _draw_start(table, symbol, rows, weights, n_terms, random)
    least, n_idle, n_exchanged, place = np.inf, 0, 0, np.int64(0)
    while n_idle < n_chosen and n_exchanged < MAX_EXCHANGES:
        share = fill_gains(table, symbol, n_chosen, place)
        number = _find_largest(table.left, table.n_first[symbol] * table.n_second[symbol])
        share -= table.left[number]
        if share < least - LEAST_GAIN:
            least, n_idle = share, 0
            if number != table.work.chosen[place]:
                choose_product(table, symbol, rows, weights, place, number)
                n_exchanged += 1
        n_idle += 1
        place = (place + 1) % n_chosen
    return n_chosen
