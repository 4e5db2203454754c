"""Skeletons: programs with holes, all but one of them filled; closing the last one gives a program.

A skeleton is laid out from an unfinished derivation, or from a finished program with a part removed or varied. Its holes and constants
are variables beyond the columns of the data, so that it can be evaluated as it is. The closing is the program in the last hole.
"""

import numpy as np

from spl.kernels.bank.bank import MAX_HOLES, write_entry
from spl.kernels.programs.constant_gradients import find_ends
from spl.kernels.programs.evaluate import arity_of
from spl.kernels.programs.tokens import (
    CONSTANT,
    KIND_SHIFT,
    MAX_CONSTANTS,
    MAX_PROGRAM_LENGTH,
    PAYLOAD_MASK,
    SYMBOL,
    VARIABLE,
)
from spl.kernels.runtime.compiler import kernel
from spl.kernels.runtime.linking import linked_kernel
from spl.kernels.runtime.random import random_below

MAX_OPEN = 8  # holes of a skeleton
MAX_INVERSIONS = 24  # operators on the path from the root to the hole
N_FILLED = MAX_OPEN + MAX_CONSTANTS  # columns of a frame beyond the variables: entries in holes, constants

SKELETON = np.dtype(
    [
        (
            "tokens",
            np.int32,
            MAX_PROGRAM_LENGTH,
        ),  # hole k is the variable D + k, constant c the variable D + MAX_OPEN + c
        ("origin", np.int32, MAX_PROGRAM_LENGTH),  # see `DERIVATION`
        ("ends", np.int64, 2 * MAX_PROGRAM_LENGTH + 1),  # where each token's subtree ends
        ("length", np.int64),
        ("position", np.int64, MAX_OPEN),  # of each hole
        ("symbol", np.int64, MAX_OPEN),
        ("entry", np.int64, MAX_OPEN),  # of the bank, that fills it
        ("n_open", np.int64),
        ("constants", np.float64, MAX_CONSTANTS),
        ("n_constants", np.int64),
        ("n_rules", np.int64),
        ("hole", np.int64),  # the hole to be closed
        ("step_token", np.int64, MAX_INVERSIONS),  # operators on the path to it
        ("step_side", np.int64, MAX_INVERSIONS),  # the operand that contains it
        ("step_branch", np.int64, MAX_INVERSIONS),  # which of two possible inverses
        ("sibling_first", np.int64, MAX_INVERSIONS),  # where the other operand begins; -1 if there is none
        ("sibling_end", np.int64, MAX_INVERSIONS),
        ("n_steps", np.int64),
        ("closing", np.int32, MAX_PROGRAM_LENGTH),  # tokens of the closing
        ("closing_origin", np.int32, MAX_PROGRAM_LENGTH),
        ("closing_length", np.int64),
        ("closing_guesses", np.float64, MAX_CONSTANTS),
        ("n_closing_guesses", np.int64),
        ("closing_rules", np.int64),
    ],
    align=True,
)


@linked_kernel
def lay_out_derivation(derivation, n_columns, skeleton) -> bool:
    """Make a skeleton of an unfinished derivation; return whether it has holes and room for them. Constants are not allowed."""
    if derivation.n_constants > 0 or derivation.is_full == 1:
        return False
    length = derivation.n_tokens
    if length + derivation.n_open > MAX_PROGRAM_LENGTH:
        return False
    for i in range(length):
        skeleton.tokens[i] = derivation.tokens[i]
        skeleton.origin[i] = derivation.origin[i]
    n_open = np.int64(0)
    for i in range(derivation.n_open - 1, -1, -1):
        item = derivation.open[i]
        kind = item >> KIND_SHIFT
        if kind == CONSTANT:
            return False
        if kind == SYMBOL:
            if n_open == MAX_OPEN:
                return False
            skeleton.position[n_open] = length
            skeleton.symbol[n_open] = item & PAYLOAD_MASK
            item = (VARIABLE << KIND_SHIFT) + n_columns + n_open
            n_open += 1
        skeleton.tokens[length] = item
        skeleton.origin[length] = -1
        length += 1
    skeleton.length = length
    skeleton.n_open = n_open
    skeleton.n_constants = 0
    skeleton.n_rules = derivation.n_rules
    find_ends(skeleton.tokens, length, skeleton.ends)
    return n_open > 0


@kernel
def _copy_piece(record, first, end, skeleton, length, n_columns):
    """Append tokens of a record to the skeleton, constants as columns; return the new length, or -1 if there is no room."""
    if length < 0 or length + end - first > MAX_PROGRAM_LENGTH:
        return np.int64(-1)
    n_before = np.int64(0)
    for i in range(first):
        n_before += record.tokens[i] >> KIND_SHIFT == CONSTANT
    for i in range(first, end):
        item = record.tokens[i]
        if item >> KIND_SHIFT == CONSTANT:
            if skeleton.n_constants == MAX_CONSTANTS:
                return np.int64(-1)
            skeleton.constants[skeleton.n_constants] = record.constants[n_before]
            n_before += 1
            item = (VARIABLE << KIND_SHIFT) + n_columns + MAX_OPEN + skeleton.n_constants
            skeleton.n_constants += 1
        skeleton.tokens[length] = item
        skeleton.origin[length] = record.origin[i]
        length += 1
    return length


@kernel
def _open_hole(skeleton, length, symbol, n_columns):
    """Append a hole to the skeleton; return the new length, or -1 if there is no room."""
    if length < 0 or length == MAX_PROGRAM_LENGTH:
        return np.int64(-1)
    skeleton.tokens[length] = (VARIABLE << KIND_SHIFT) + n_columns + skeleton.n_open
    skeleton.origin[length] = -1
    skeleton.position[skeleton.n_open] = length
    skeleton.symbol[skeleton.n_open] = symbol
    skeleton.n_open += 1
    return length + 1


@kernel
def _append_item(skeleton, length, item, origin):
    """Append a token to the skeleton; return the new length, or -1 if there is no room."""
    if length < 0 or length == MAX_PROGRAM_LENGTH:
        return np.int64(-1)
    skeleton.tokens[length] = item
    skeleton.origin[length] = origin
    return length + 1


@kernel
def _wrap_piece(record, first, end, symbol, rules, skeleton, length, n_columns, random):
    """Append a random rule of the symbol with the piece of the record as one operand and a hole as the other."""
    n_fitting = 0
    chosen, side = -1, 0
    for rule in range(rules.symbol.size):
        if rules.symbol[rule] != symbol or rules.n_holes[rule] != 2:
            continue
        for operand in range(2):
            if rules.hole[rule, operand] == symbol:
                n_fitting += 1
                if random_below(random, n_fitting) == 0:
                    chosen, side = rule, operand
    if chosen < 0:
        return np.int64(-1)
    for i in range(rules.items_first[chosen], rules.items_first[chosen + 1]):
        operand = rules.items[i] - ((VARIABLE << KIND_SHIFT) + n_columns)
        if operand == side:
            length = _copy_piece(record, first, end, skeleton, length, n_columns)
        elif operand == 1 - side:
            length = _open_hole(skeleton, length, rules.hole[chosen, operand], n_columns)
        else:
            length = _append_item(skeleton, length, rules.items[i], symbol if i == rules.items_first[chosen] else -1)
    skeleton.n_rules += rules.n_rules[chosen]
    return length


@kernel
def _replace_piece(symbol, n_holes, rules, skeleton, length, n_columns, random):
    """Append a random rule of the symbol with n_holes symbols, which become holes."""
    n_fitting = 0
    chosen = -1
    for rule in range(rules.symbol.size):
        if rules.symbol[rule] == symbol and rules.n_holes[rule] == n_holes:
            n_fitting += 1
            if random_below(random, n_fitting) == 0:
                chosen = rule
    if chosen < 0:
        return np.int64(-1)
    for i in range(rules.items_first[chosen], rules.items_first[chosen + 1]):
        operand = rules.items[i] - ((VARIABLE << KIND_SHIFT) + n_columns)
        if operand == 0 or operand == 1:
            length = _open_hole(skeleton, length, rules.hole[chosen, operand], n_columns)
        else:
            length = _append_item(skeleton, length, rules.items[i], symbol if i == rules.items_first[chosen] else -1)
    skeleton.n_rules += rules.n_rules[chosen]
    return length


@linked_kernel
def lay_out_variant(record, n_holes, rules, n_columns, skeleton, random) -> bool:
    """Make a skeleton of a program with a random part replaced by a hole or a function of a hole, or joined to a hole by an operator.

    With two holes, an operator of both replaces that part. Return whether there is such a skeleton, and room for it.
    """
    n_places = 0
    for i in range(record.length):
        n_places += record.origin[i] >= 0
    if n_places == 0:
        return False
    pick = random_below(random, n_places)
    at = np.int64(-1)
    for i in range(record.length):
        if record.origin[i] >= 0:
            if pick == 0:
                at = i
            pick -= 1
    find_ends(record.tokens, record.length, skeleton.ends)
    end = skeleton.ends[at]
    symbol = np.int64(record.origin[at])
    skeleton.n_constants = 0
    skeleton.n_open = 0
    skeleton.hole = 0
    skeleton.n_rules = record.n_rules
    length = _copy_piece(record, np.int64(0), at, skeleton, np.int64(0), n_columns)
    kind = random_below(random, 3) if n_holes == 1 else 1
    if kind < 2:
        for i in range(at, end):
            skeleton.n_rules -= record.origin[i] >= 0
    if kind == 0:
        length = _open_hole(skeleton, length, symbol, n_columns)
    elif kind == 1:
        length = _replace_piece(symbol, n_holes, rules, skeleton, length, n_columns, random)
    else:
        length = _wrap_piece(record, at, end, symbol, rules, skeleton, length, n_columns, random)
    if length < 0:
        return False
    length = _copy_piece(record, end, np.int64(record.length), skeleton, length, n_columns)
    if length < 0:
        return False
    skeleton.length = length
    find_ends(skeleton.tokens, length, skeleton.ends)
    return True


@linked_kernel
def find_path(skeleton, random) -> bool:
    """Store the operators on the path from the root to the hole, with a random branch of each; return whether they are few enough."""
    hole = skeleton.position[skeleton.hole]
    at = np.int64(0)
    n_steps = np.int64(0)
    while at != hole:
        if n_steps == MAX_INVERSIONS:
            return False
        token = skeleton.tokens[at]
        skeleton.step_token[n_steps] = token
        skeleton.step_branch[n_steps] = random_below(random, 2)
        first = at + 1
        if arity_of(token) == 1:
            skeleton.sibling_first[n_steps] = -1
            skeleton.step_side[n_steps] = 0
            at = first
        else:
            second = skeleton.ends[first]
            is_second = hole >= second
            skeleton.step_side[n_steps] = 1 if is_second else 0
            skeleton.sibling_first[n_steps] = first if is_second else second
            skeleton.sibling_end[n_steps] = second if is_second else skeleton.ends[second]
            at = second if is_second else first
        n_steps += 1
    skeleton.n_steps = n_steps
    return True


@kernel
def sibling_step(skeleton, k):
    """Return the step whose other operand contains hole k; -1 if there is none."""
    position = skeleton.position[k]
    for step in range(skeleton.n_steps):
        if skeleton.sibling_first[step] <= position and position < skeleton.sibling_end[step]:
            if skeleton.sibling_first[step] >= 0:
                return np.int64(step)
    return np.int64(-1)


@kernel
def begin_closing(skeleton):
    """Empty the closing."""
    skeleton.closing_length = 0
    skeleton.n_closing_guesses = 0
    skeleton.closing_rules = 0


@kernel
def append_token(skeleton, token, origin):
    """Append a token to the closing; a length of -1 says that there was no room."""
    length = skeleton.closing_length
    if length < 0 or length >= MAX_PROGRAM_LENGTH:
        skeleton.closing_length = -1
        return
    skeleton.closing[length] = token
    skeleton.closing_origin[length] = origin
    skeleton.closing_length += 1
    skeleton.closing_rules += 1


@kernel
def append_constant(skeleton, guess, origin):
    """Append a constant to the closing."""
    if skeleton.n_closing_guesses == MAX_CONSTANTS:
        skeleton.closing_length = -1
        return
    append_token(skeleton, CONSTANT << KIND_SHIFT, origin)
    skeleton.closing_guesses[skeleton.n_closing_guesses] = guess
    skeleton.n_closing_guesses += 1


@kernel
def append_entry(skeleton, bank, rules, entry):
    """Append an entry of the bank to the closing; a length of -1 says that there was no room."""
    before = skeleton.closing_length
    length = write_entry(bank, rules, entry, skeleton.closing, skeleton.closing_origin, before)
    for i in range(before, length):
        if skeleton.closing[i] >> KIND_SHIFT == CONSTANT:
            if skeleton.n_closing_guesses == MAX_CONSTANTS:
                length = np.int64(-1)
                break
            skeleton.closing_guesses[skeleton.n_closing_guesses] = 1.0
            skeleton.n_closing_guesses += 1
    skeleton.closing_length = length
    skeleton.closing_rules += bank.n_rules[entry]


@linked_kernel
def assemble(skeleton, bank, rules, leaf) -> bool:
    """Write the finished program into a derivation; return whether there is room."""
    n_columns = bank.columns.shape[0] - MAX_HOLES
    length = np.int64(0)
    leaf.n_constants = 0
    leaf.n_rules = skeleton.n_rules
    leaf.is_full = 0
    leaf.n_open = 0
    for i in range(skeleton.length):
        item = skeleton.tokens[i]
        payload = (item & PAYLOAD_MASK) - n_columns
        if item >> KIND_SHIFT != VARIABLE or payload < 0:
            if length == MAX_PROGRAM_LENGTH:
                return False
            leaf.tokens[length] = item
            leaf.origin[length] = skeleton.origin[i]
            length += 1
        elif payload == skeleton.hole:
            if length + skeleton.closing_length > MAX_PROGRAM_LENGTH:
                return False
            n_filled = 0
            for j in range(skeleton.closing_length):
                leaf.tokens[length] = skeleton.closing[j]
                leaf.origin[length] = skeleton.closing_origin[j]
                length += 1
                if skeleton.closing[j] >> KIND_SHIFT == CONSTANT:
                    if leaf.n_constants == MAX_CONSTANTS:
                        return False
                    leaf.guesses[leaf.n_constants] = skeleton.closing_guesses[n_filled]
                    leaf.n_constants += 1
                    n_filled += 1
            leaf.n_rules += skeleton.closing_rules
        elif payload < MAX_OPEN:
            before = length
            length = write_entry(bank, rules, skeleton.entry[payload], leaf.tokens, leaf.origin, length)
            if length < 0:
                return False
            for j in range(before, length):
                if leaf.tokens[j] >> KIND_SHIFT == CONSTANT:
                    if leaf.n_constants == MAX_CONSTANTS:
                        return False
                    leaf.guesses[leaf.n_constants] = 1.0
                    leaf.n_constants += 1
            leaf.n_rules += bank.n_rules[skeleton.entry[payload]]
        else:
            if length == MAX_PROGRAM_LENGTH or leaf.n_constants == MAX_CONSTANTS:
                return False
            leaf.tokens[length] = CONSTANT << KIND_SHIFT
            leaf.origin[length] = skeleton.origin[i]
            length += 1
            leaf.guesses[leaf.n_constants] = skeleton.constants[payload - MAX_OPEN]
            leaf.n_constants += 1
    leaf.n_tokens = length
    return True
