"""Completion: all parts of a formula but one are chosen, and the values that the last one must have are looked up.

A skeleton is a program with holes. All holes but one are filled with entries of the bank. Inverting the operators on the path from the
root to the last hole gives its goal: the values it must have. A closer finds an entry with these values. The finished program is
scored like any other.
"""

from typing import NamedTuple

import numpy as np

from spl.kernels.bank.bank import Bank, BankRules
from spl.kernels.bank.factor_table import FactorTable
from spl.kernels.bank.power_index import PowerIndex
from spl.kernels.bank.spatial_index import SpatialIndex
from spl.kernels.bank.value_index import IDENTICAL, correlate, look_up
from spl.kernels.programs.evaluate import evaluate
from spl.kernels.programs.rows import copy_row, fill_row
from spl.kernels.programs.slopes import scale_by_slope, scale_by_slope_of
from spl.kernels.programs.tokens import (
    ADD,
    CONSTANT,
    DIV,
    KIND_SHIFT,
    MAX_PROGRAM_LENGTH,
    MUL,
    PAYLOAD_MASK,
    SYMBOL,
    VARIABLE,
)
from spl.kernels.runtime.compiler import kernel
from spl.kernels.runtime.linking import linked_kernel
from spl.kernels.runtime.random import random_below, random_unit
from spl.kernels.tree.invert import invert
from spl.kernels.tree.skeleton import (
    MAX_INVERSIONS,
    N_FILLED,
    append_constant,
    append_entry,
    append_token,
    begin_closing,
)

# Forms of a symbol S, such as C * S + C: places in `Completion.forms`
(
    ENTRY_FORM,
    SCALED_FORM,
    AFFINE_FORM,
    SUM_FORM,
    DIFFERENCE_FORM,
    PRODUCT_FORM,
    QUOTIENT_FORM,
    ROOT_FORM,
    NUMBER_FORM,
    SHIFTED_FORM,
    RECIPROCAL_FORM,
) = range(11)
N_FORMS = 11
FORM_LENGTH = 6
TERM_LENGTH = 40  # tokens of a term of a linear combination

NO_OFFSET = 1e-9  # an offset that is a smaller share of the values is 0
NO_SCALE = 1e-9  # a scale closer to 1 is 1


class Frame(NamedTuple):
    """The n rows on which goals are computed, with scratch."""

    n: int
    columns: np.ndarray  # float64[D + N_FILLED, n], the variables, then what fills holes
    rows: (
        np.ndarray
    )  # float64[(2 * MAX_INVERSIONS + 4) * n], at step k its result in row 2k, the other operand in row 2k + 1
    stack: np.ndarray  # float64[...], scratch of `evaluate`


class FormContent(NamedTuple):
    """What takes the place of S in a form of a symbol S: an entry, or an operator of an entry and a constant."""

    operator: int  # -1: an entry; a function; or DIV: a numerator over an entry and a constant
    symbol: int  # the symbol of the entry
    constant: float  # multiplies the entry ...
    is_shifted: bool  # ... or is added to it
    above: int  # the entry in the numerator of a quotient; -1: the scale


class Completion(NamedTuple):
    """All that completion needs. The frames and what follows are scratch of one tree; the rest is read-only and shared by all."""

    bank: Bank
    rules: BankRules
    forms: np.ndarray  # int32[S, N_FORMS, FORM_LENGTH], tokens, with the symbol itself for S
    form_length: np.ndarray  # int64[S, N_FORMS], 0 if the symbol does not derive it
    variables: np.ndarray  # int64[S, D], whether a symbol derives each bare variable
    power_index: PowerIndex  # finds entries of the bank up to powers
    spatial_index: SpatialIndex  # finds entries close to approximate goals
    factor_table: FactorTable  # finds sums of products close to approximate goals
    weights: np.ndarray  # float64[N], of the rows of the sample
    cheap_values: np.ndarray  # float64[S, B, N], values of the cheapest entries of each symbol on them
    n_cheap: np.ndarray  # int64[S]
    term_values: np.ndarray  # float64[S, P, N], terms of linear combinations
    term_tokens: np.ndarray  # int32[S, P, TERM_LENGTH]
    term_length: np.ndarray  # int64[S, P]
    n_terms: np.ndarray  # int64[S]
    frame: Frame  # a few rows, on which exact goals are looked up
    wide: Frame  # all rows of the sample, for approximate goals
    matrix: np.ndarray  # float64[(MAX_CLOSER_TERMS + 1) * N]
    least_squares: np.record  # LEAST_SQUARES
    skeleton: np.record  # SKELETON


def make_frame(columns, target):
    """Return a frame on columns [D, n] with this target."""
    n = target.size
    room = np.zeros((columns.shape[0] + N_FILLED, n))
    room[: columns.shape[0]] = columns
    rows = np.zeros((2 * MAX_INVERSIONS + 4) * n)
    rows[:n] = target
    return Frame(n, room, rows, np.zeros(MAX_PROGRAM_LENGTH * max(n, 64)))


@kernel
def fill_hole(skeleton, k, entry, bank, frame, n_columns):
    """Fill a hole with an entry: its values become a column of the frame."""
    skeleton.entry[k] = entry
    copy_row(bank.values, entry * frame.n, frame.columns, (n_columns + k) * frame.n, frame.n)


@linked_kernel
def evaluate_sibling(skeleton, k, alphabet, frame) -> None:
    """Put the values of the other operand of step k into row 2k + 1."""
    first, end = skeleton.sibling_first[k], skeleton.sibling_end[k]
    if first < 0:
        return
    n = frame.n
    at = (2 * k + 1) * n
    if end - first == 1 and skeleton.tokens[first] >> KIND_SHIFT == VARIABLE:
        copy_row(frame.columns, (skeleton.tokens[first] & PAYLOAD_MASK) * n, frame.rows, at, n)
        return
    tokens = skeleton.tokens[first:end]
    evaluate(tokens, end - first, skeleton.constants, alphabet, frame.columns, np.int64(0), n, frame.stack)
    copy_row(frame.stack, 0, frame.rows, at, n)


@linked_kernel
def find_goal(skeleton, first, alphabet, frame) -> bool:
    """Invert the operators from step `first` to the hole; return whether there is a goal. It is in row 2 * n_steps."""
    n = frame.n
    for k in range(first, skeleton.n_steps):
        if not invert(
            skeleton.step_token[k],
            skeleton.step_side[k],
            skeleton.step_branch[k],
            frame.rows,
            2 * k * n,
            frame.rows,
            (2 * k + 1) * n,
            frame.rows,
            2 * (k + 1) * n,
            n,
            alphabet.user,
        ):
            return False
    return True


@kernel
def bare_entry(symbol):
    """Return the content of a form that is a bare entry."""
    return FormContent(np.int64(-1), np.int64(symbol), 1.0, False, np.int64(-1))


@kernel
def _append_with_constant(completion, symbol, form, entry, constant):
    """Append a constant times an entry, or plus it if the form is SHIFTED_FORM, to the closing, in the grammar's order."""
    skeleton = completion.skeleton
    append_token(skeleton, ADD if form == SHIFTED_FORM else MUL, symbol)
    is_constant_first = completion.forms[symbol, form, 1] >> KIND_SHIFT == CONSTANT
    if is_constant_first:
        append_constant(skeleton, constant, np.int64(-1))
    append_entry(skeleton, completion.bank, completion.rules, entry)
    if not is_constant_first:
        append_constant(skeleton, constant, np.int64(-1))


@kernel
def _append_inside(completion, symbol, content, entry, scale):
    """Append the content of a form to the closing."""
    skeleton = completion.skeleton
    if content.operator < 0:
        append_entry(skeleton, completion.bank, completion.rules, entry)
        return
    append_token(skeleton, content.operator, symbol)
    if content.operator == DIV and content.above >= 0:
        append_entry(skeleton, completion.bank, completion.rules, content.above)
    elif content.operator == DIV:
        append_constant(skeleton, scale, np.int64(-1))
    form = np.int64(SHIFTED_FORM if content.is_shifted else SCALED_FORM)
    _append_with_constant(completion, content.symbol, form, entry, content.constant)


@linked_kernel
def append_form(completion, symbol, form, content, entry, scale, offset) -> None:
    """Append a form of a symbol, such as `C * S + C`, to the closing, with this content for S."""
    skeleton = completion.skeleton
    n_items = np.int64(1) if form == ENTRY_FORM else completion.form_length[symbol, form]
    is_factor = False  # whether the next constant is the scale
    for i in range(n_items):
        item = completion.forms[symbol, form, i]
        origin = symbol if i == 0 else np.int64(-1)
        if form == ENTRY_FORM or item >> KIND_SHIFT == SYMBOL:
            _append_inside(completion, symbol, content, entry, scale)
        elif item >> KIND_SHIFT == CONSTANT:
            append_constant(skeleton, scale if is_factor else offset, origin)
            is_factor = False
        else:
            append_token(skeleton, item, origin)
            is_factor = item == MUL


@kernel
def spell_entry(completion, symbol, form, entry, scale, offset):
    """Close the hole with a form of an entry; return whether there is room."""
    begin_closing(completion.skeleton)
    append_form(completion, symbol, form, bare_entry(symbol), entry, scale, offset)
    return completion.skeleton.closing_length > 0


@linked_kernel
def close_by_look_up(completion) -> bool:
    """Close the hole with the entry of the bank that has the goal's values; return whether there is one."""
    skeleton, bank, frame = completion.skeleton, completion.bank, completion.frame
    symbol = skeleton.symbol[skeleton.hole]
    mode = completion.rules.mode[symbol]
    at = 2 * skeleton.n_steps * frame.n
    entry = look_up(bank, symbol, mode, frame.rows, at)
    if entry < 0:
        return False
    if mode == IDENTICAL:
        return spell_entry(completion, symbol, np.int64(ENTRY_FORM), entry, 1.0, 0.0)
    scale, offset, _ = correlate(frame.rows, at, bank.values, entry * frame.n, frame.n, mode)
    size = 0.0
    for j in range(frame.n):
        size = max(size, abs(frame.rows[at + j]))
    form = np.int64(AFFINE_FORM)
    if abs(offset) <= NO_OFFSET * size:
        if abs(scale - 1.0) <= NO_SCALE:
            form = np.int64(ENTRY_FORM)
        elif completion.form_length[symbol, SCALED_FORM] > 0:
            form = np.int64(SCALED_FORM)
    return spell_entry(completion, symbol, form, entry, scale, offset)


@linked_kernel
def find_goal_slope(skeleton, alphabet, frame) -> None:
    """Put the derivative of the result by the value in the hole into row 2 * MAX_INVERSIONS + 1, after `find_goal`."""
    n = frame.n
    at, scratch = (2 * MAX_INVERSIONS + 1) * n, (2 * MAX_INVERSIONS + 2) * n
    fill_row(frame.rows, at, 1.0, n)
    for k in range(skeleton.n_steps):
        token, side = skeleton.step_token[k], skeleton.step_side[k]
        value, sibling, operand = 2 * k * n, (2 * k + 1) * n, (2 * k + 2) * n
        if skeleton.sibling_first[k] < 0:
            scale_by_slope(token, alphabet.user, frame.rows, at, scratch, frame.rows, operand, value, n)
            continue
        a = operand if side == 0 else sibling
        b = sibling if side == 0 else operand
        scale_by_slope_of(side, token, alphabet.user, frame.rows, at, scratch, frame.rows, a, b, value, n)


@kernel
def random_place(n_cheapest, n, random):
    """Return a random place below n, in order of cost: half of the time one of the cheapest, else with odds like 1 / place.

    n must be at least 1.
    """
    if n_cheapest > 0 and random_below(random, 2) == 0:
        return random_below(random, min(n_cheapest, n))
    return min(np.int64(np.exp(random_unit(random) * np.log(n + 1.0))) - 1, n - 1)
