"""Look-up by values, up to scale and offset, and at the places where a grid can go wrong."""

import functools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.kernels.bank_twins import (
    GRAMMARS,
    MAX_COST,
    SCALED,
    SHIFTED,
    TWO_SYMBOLS,
    every_entry,
    make_directions,
    make_small_bank,
)
from tests.kernels.program_twins import X0
from tests.kernels.search_twins import fewer

from spl.formulas.grammar import Grammar
from spl.kernels.bank.bank import grow_bank, look_up_entry, make_bank
from spl.kernels.bank.value_index import (
    GRID,
    IDENTICAL,
    MAX_CELLS_PER_ENTRY,
    UP_TO_SCALE,
    UP_TO_SCALE_AND_OFFSET,
    cell_key,
    correlate,
    find_spot,
    make_cells,
)
from spl.kernels.programs import tokens as tk
from spl.regression.bank_packing import pack_bank_rules
from spl.regression.packing import pack_alphabet

N_EXAMPLES = fewer(100, 30)


@pytest.fixture(scope="module")
def small_banks():
    with np.errstate(all="ignore"):
        return {text: make_small_bank(text, MAX_COST) for text in GRAMMARS}


@pytest.fixture(params=GRAMMARS)
def small(request, small_banks):
    return small_banks[request.param]


# --- hash tables


@pytest.mark.parametrize("n_entries", [0, 1, 2, 3, 5, 8, 9, 1000])
def test_a_hash_table_has_two_to_four_places_per_entry(n_entries):
    for cells in make_cells(2, n_entries):
        n_tables, n_cells = cells.shape
        assert n_tables == 2
        assert 2 * n_entries <= n_cells <= MAX_CELLS_PER_ENTRY * max(n_entries, 1)
        assert n_cells & (n_cells - 1) == 0
        assert not cells.any()


def test_the_key_of_a_cell_is_never_0_and_tells_cells_and_symbols_apart():
    cells = [(a, b, symbol) for a in (-3.0, 0.0, 5.0) for b in (-1.0, 0.0, 7.0) for symbol in range(3)]
    keys = {int(cell_key(a, b, symbol)) for a, b, symbol in cells}
    assert len(keys) == len(cells)
    assert 0 not in keys


# --- look-up

N_VALUES = 9


def find(small, values, mode=IDENTICAL, symbol=0):
    return look_up_entry(small.bank, symbol, mode, np.ascontiguousarray(values))


def test_every_entry_is_found_by_its_values(small):
    for symbol, entry in every_entry(small):
        assert find(small, small.values(entry), symbol=symbol) == entry


@settings(max_examples=N_EXAMPLES)
@given(st.integers(0, 2**32), st.integers(0, 10_000))
def test_an_entry_is_found_by_values_with_rounding_errors(small_banks, seed, number):
    noise = np.random.default_rng(seed).uniform(-1e-12, 1e-12, N_VALUES)
    for small in small_banks.values():
        symbol, entry = every_entry(small)[number % len(every_entry(small))]
        assert find(small, small.values(entry) * (1 + noise), symbol=symbol) == entry


@settings(max_examples=N_EXAMPLES)
@given(st.integers(0, 10_000), st.floats(1e-3, 1e3), st.booleans())
def test_an_entry_is_found_up_to_scale(small_banks, number, scale, is_negative):
    small = small_banks[SCALED]
    entry = small.entries()[number % len(small.entries())]
    values = small.values(entry) * (-scale if is_negative else scale)
    found = find(small, values, UP_TO_SCALE)
    assert found >= 0
    assert small.bank.cost[found] <= small.bank.cost[entry]
    assert is_affine_image(values, small.values(found), with_offset=False)


@settings(max_examples=N_EXAMPLES)
@given(st.integers(0, 10_000), st.floats(1e-2, 1e2), st.booleans(), st.floats(-1e3, 1e3))
def test_an_entry_is_found_up_to_scale_and_offset(small_banks, number, scale, is_negative, offset):
    small = small_banks[SHIFTED]
    entry = small.entries()[number % len(small.entries())]
    values = small.values(entry) * (-scale if is_negative else scale) + offset
    found = find(small, values, UP_TO_SCALE_AND_OFFSET)
    assert found >= 0
    assert small.bank.cost[found] <= small.bank.cost[entry]
    assert is_affine_image(values, small.values(found), with_offset=True)


def is_affine_image(values, other, with_offset):
    design = np.stack([other, np.full(other.size, float(with_offset))], axis=1)
    rest = values - design @ np.linalg.lstsq(design, values, rcond=None)[0]
    return np.linalg.norm(rest) <= 2e-6 * np.linalg.norm(values - values.mean() * with_offset)


@pytest.mark.parametrize("value", [1.0, -2.5, 1e-4, 300.0])
def test_every_number_is_the_number_of_the_bank_up_to_scale(small_banks, value):
    small = small_banks[SCALED]
    one = find(small, np.ones(N_VALUES))
    assert small.spell(one)[0] == [tk.LITERAL << tk.KIND_SHIFT]
    assert find(small, np.full(N_VALUES, value), UP_TO_SCALE) == one


def test_the_cheapest_of_the_entries_that_are_equal_up_to_scale_is_found(small_banks):
    small = small_banks[SCALED]
    x = small.columns[0]
    assert small.spell(find(small, x + x))[0] == [tk.ADD, X0, X0]
    assert small.spell(find(small, x + x, UP_TO_SCALE))[0] == [X0]


@pytest.mark.parametrize(
    ("text", "mode"),
    [(SCALED, IDENTICAL), (SCALED, UP_TO_SCALE), (SHIFTED, IDENTICAL), (SHIFTED, UP_TO_SCALE_AND_OFFSET)],
)
def test_values_that_are_not_there_are_not_found(small_banks, text, mode, rng):
    small = small_banks[text]
    for entry in small.entries():
        noise = rng.standard_normal(N_VALUES)
        noise -= noise.mean()
        spread = np.std(small.values(entry)) if mode == UP_TO_SCALE_AND_OFFSET else np.mean(np.abs(small.values(entry)))
        assert find(small, small.values(entry) + 1e-4 * spread * noise, mode) == -1


def test_an_entry_of_one_symbol_is_not_found_under_another(small_banks):
    small = small_banks[TWO_SYMBOLS]
    assert find(small, small.columns[1], symbol=1) >= 0
    assert find(small, small.columns[1], symbol=0) == -1


@pytest.mark.parametrize("mode", [IDENTICAL, UP_TO_SCALE, UP_TO_SCALE_AND_OFFSET])
@pytest.mark.parametrize("value", [0.0, np.nan, np.inf, 1e13])
def test_values_without_a_place_on_the_grid_are_not_found(small_banks, mode, value):
    assert find(small_banks[SHIFTED], value * np.arange(1.0, 1 + N_VALUES), mode) == -1


@pytest.mark.parametrize("value", [1.0, 1e3, -0.3])
def test_one_number_has_no_place_on_the_grid_up_to_offset(small_banks, value):
    assert find(small_banks[SHIFTED], np.full(N_VALUES, value), UP_TO_SCALE_AND_OFFSET) == -1


# --- borders of the grid: one column is made to lie next to one, and looked up a little on its other side

NUDGE = 1e-11
MODES = {IDENTICAL: "f -> x", UP_TO_SCALE: "f -> x | C * f", UP_TO_SCALE_AND_OFFSET: "f -> x | C * f + C"}
SIDES = st.sampled_from([-1.0, 0.0, 1.0])
CELLS = st.integers(-8_000, 8_000)
DIRECTIONS = make_directions(N_VALUES)


MARK = 0.3


def place_on_grid(mode, a, b):
    """Return values whose coordinates on the grid are a and b cells, with a third one that has a sign."""
    a, b = a / GRID, b / GRID
    rest = np.random.default_rng(0).standard_normal(N_VALUES)
    for direction in (*DIRECTIONS, np.full(N_VALUES, N_VALUES**-0.5)):
        rest -= (rest @ direction) * direction
    rest /= np.linalg.norm(rest)
    if mode == IDENTICAL:
        return np.exp(b) * (a * DIRECTIONS[0] + MARK * DIRECTIONS[2] + np.sqrt(1 - a * a - MARK**2) * rest)
    return np.array([a, b, MARK]) @ DIRECTIONS + np.sqrt(1 - a * a - b * b - MARK**2) * rest


@functools.cache
def rules_with(mode):
    grammar = Grammar.from_text(MODES[mode]).bind(("x",))
    rules = pack_bank_rules(grammar, 4)
    assert rules.mode.tolist() == [mode]
    return rules, pack_alphabet(grammar.vocabulary)


def find_across(mode, a, b, nudge_a, nudge_b, factor=1.0, offset=0.0):
    """Return what is found by values a nudge away from those at the point of the grid, up to what the mode allows."""
    bank = make_bank(place_on_grid(mode, a, b)[None], 1, 4, 1, DIRECTIONS)
    grow_bank(bank, *rules_with(mode), 10)
    near = place_on_grid(mode, a + nudge_a * GRID, b + nudge_b * GRID)
    return look_up_entry(bank, 0, mode, factor * near + offset)


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=N_EXAMPLES)
@given(CELLS, CELLS, SIDES, SIDES)
def test_an_entry_at_a_corner_of_the_grid_is_found_from_all_sides(mode, a, b, side_a, side_b):
    assert find_across(mode, a, b, side_a * NUDGE, side_b * NUDGE) == 0


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=N_EXAMPLES)
@given(CELLS, CELLS, st.floats(0, 1), st.floats(0, 1), st.floats(-5e-7, 5e-7))
def test_an_entry_is_found_by_all_values_that_count_as_equal(mode, a, b, part_a, part_b, nudge):
    assert find_across(mode, a + part_a, b + part_b, nudge, 0.0) == 0


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=N_EXAMPLES)
@given(CELLS, CELLS, st.floats(-9e-7, 9e-7))
def test_an_entry_is_found_by_equal_values_with_another_mark(mode, a, b, nudge):
    values = place_on_grid(mode, a + 0.5, b + 0.5)
    bank = make_bank(values[None], 1, 4, 1, DIRECTIONS)
    grow_bank(bank, *rules_with(mode), 10)
    assert look_up_entry(bank, 0, mode, values + nudge * np.linalg.norm(values) * DIRECTIONS[2]) == 0


@pytest.mark.parametrize("mode", [UP_TO_SCALE, UP_TO_SCALE_AND_OFFSET])
@settings(max_examples=N_EXAMPLES)
@given(CELLS, st.floats(0.1, 0.9), SIDES, st.sampled_from([-3.0, -1.0, 1.0, 0.01]))
def test_an_entry_whose_sign_is_undecided_is_found(mode, b, part, side, factor):
    offset = 7.0 if mode == UP_TO_SCALE_AND_OFFSET else 0.0
    assert find_across(mode, 0.0, b + part, side * NUDGE, 0.0, factor, offset) == 0


@pytest.mark.parametrize("mode", [UP_TO_SCALE, UP_TO_SCALE_AND_OFFSET])
def test_an_entry_at_a_corner_whose_sign_is_undecided_is_found(mode):
    for b in (-7, -1, 0, 1, 300):
        for side_a in (-NUDGE, 0.0, NUDGE):
            for side_b in (-NUDGE, 0.0, NUDGE):
                for factor in (1.0, -1.0):
                    assert find_across(mode, 0.0, b, side_a, side_b, factor) == 0


@settings(max_examples=N_EXAMPLES)
@given(CELLS, CELLS, st.sampled_from([IDENTICAL, UP_TO_SCALE, UP_TO_SCALE_AND_OFFSET]))
def test_a_spot_has_the_coordinates_of_its_values(a, b, mode):
    assume(a != 0 or mode == IDENTICAL)  # the sign would be undecided
    values = place_on_grid(mode, a, b) * (1.0 if mode == IDENTICAL else -4.0)
    spot = find_spot(values, 0, N_VALUES, mode, DIRECTIONS)
    sign = -1.0 if a < 0 and mode != IDENTICAL else 1.0
    assert (spot.a * GRID, spot.b * GRID) == pytest.approx((sign * a, sign * b), abs=1e-6)
    assert spot.mark == pytest.approx(sign * MARK)
    assert spot.size == pytest.approx(np.linalg.norm(values))


@pytest.mark.parametrize("mode", [UP_TO_SCALE, UP_TO_SCALE_AND_OFFSET])
def test_scale_and_offset_are_those_of_least_squares(mode, rng):
    values, other = rng.standard_normal((2, N_VALUES)) + 2.0
    design = np.stack([other, np.ones(N_VALUES)], axis=1)[:, : 1 + (mode == UP_TO_SCALE_AND_OFFSET)]
    expected, [rest], *_ = np.linalg.lstsq(design, values, rcond=None)
    scale, offset, left = correlate(values, 0, other, 0, N_VALUES, mode)
    assert (scale, offset, left) == pytest.approx((*expected, *[0.0] * (2 - expected.size), rest))
