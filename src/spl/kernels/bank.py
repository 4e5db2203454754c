"""The bank: programs that differ in their values, for each symbol of a grammar, the cheapest first. Their only constant is 1.

It is grown bottom-up: all programs of one cost are made from cheaper ones by the rules of the grammar. A program with the values of
an earlier one of its symbol is dropped. Entries are found again by their values; where the grammar has constants, up to scale, or up
to scale and offset.

Values become two coordinates, and these a cell of a fine grid, which a hash table knows. A coordinate near the border of its cell is
looked up on both sides of it, and every hit is compared value by value: neither rounding nor a collision can mislead.
"""

from typing import NamedTuple

import numpy as np

from spl.kernels.apart import apart
from spl.kernels.compiler import FAST_MATH, kernel
from spl.kernels.evaluate import evaluate
from spl.kernels.random import scramble
from spl.kernels.rows import apply_binary, apply_unary, copy_row
from spl.kernels.tokens import ADD, CONSTANT, KIND_SHIFT, MAX_LENGTH, MUL, SUB, VARIABLE

EXACT, UP_TO_SCALE, UP_TO_SCALE_AND_OFFSET = range(3)  # how an entry may differ from what is looked up

LARGEST = 1e12  # values beyond this leave too few digits for anything done with them
SAME = 1e-6  # relative distance of values that count as equal
GRID = 16384.0  # cells per unit of a coordinate
BORDER = 0.02  # share of a cell next to its border that is looked up on the other side too
CONSTANT_SPREAD = 1e-9  # values whose spread is a smaller share of their size are one number
MAX_HOLES = 2  # of a rule that makes entries

# Places in `Bank.used`
N_ENTRIES, N_TRIED, MAX_COST = range(3)

_SALT = np.uint64(0x9E3779B97F4A7C15)


class BankRules(NamedTuple):
    """The rules of a grammar that have at most two symbols, and no constants but one by itself; renamed symbols are resolved."""

    symbol: np.ndarray  # int64[R], what it replaces
    cost: np.ndarray  # int64[R], of the tokens of its template
    n_rules: np.ndarray  # int64[R], rules of the grammar that it stands for
    n_holes: np.ndarray  # int64[R], symbols in its template
    hole: np.ndarray  # int64[R, 2], which
    operator: np.ndarray  # int64[R], the token if the template is an operator of its symbols, else -1
    items_first: np.ndarray  # int64[R + 1], where its template begins
    items: np.ndarray  # int32[I], tokens; its symbols are the variables D and D + 1
    mode: np.ndarray  # int64[S], how an entry of each symbol may differ from what is looked up
    capacity: np.ndarray  # int64[S], most entries of each symbol


class Bank(NamedTuple):
    """M places for entries with n values each; S symbols; costs up to K."""

    values: np.ndarray  # float64[(M + 1) * n]; the last row is scratch
    n_values: int
    rule: np.ndarray  # int32[M], the rule that made it
    left: np.ndarray  # int32[M], entry in the first hole of that rule
    right: np.ndarray  # int32[M], entry in its second hole
    cost: np.ndarray  # int32[M]
    n_rules: np.ndarray  # int32[M], of the derivation
    first: np.ndarray  # int64[S, K + 2], entries of symbol s and cost c: first[s, c] to last[s, c]
    last: np.ndarray  # int64[S, K + 2]
    n_of: np.ndarray  # int64[S], entries of each symbol
    n_cheapest: np.ndarray  # int64[S], the first of them: those of cost 1, and the number 1
    member: np.ndarray  # int32[S, M], the entries of each symbol in order
    directions: np.ndarray  # float64[2, n], unit vectors orthogonal to each other and to a constant
    columns: np.ndarray  # float64[D + 2, n], the variables, and room for two operands
    ones: np.ndarray  # float64[MAX_LENGTH], the constants of any entry
    keys: np.ndarray  # uint64[2, H], cells with an entry: exact ones, and up to the symbol's mode; 0 is free
    slots: np.ndarray  # int32[2, H], the entry
    stack: np.ndarray  # float64[...], scratch of `evaluate`
    used: np.ndarray  # int64[3]


class Spot(NamedTuple):
    """Where values are on the grid."""

    a: float
    b: float
    size: float  # norm of the values, after the mean is taken off if the mode says so


def make_bank(columns, n_symbols, capacity, max_cost, directions):
    """Return an empty bank for entries with the values that they have on columns [D, n]."""
    n = columns.shape[1]
    n_keys = 1 << int(2 * capacity - 1).bit_length()
    room = np.zeros((columns.shape[0] + MAX_HOLES, n))
    room[: columns.shape[0]] = columns
    return Bank(
        values=np.zeros((capacity + 1) * n),
        n_values=n,
        rule=np.zeros(capacity, np.int32),
        left=np.full(capacity, -1, np.int32),
        right=np.full(capacity, -1, np.int32),
        cost=np.zeros(capacity, np.int32),
        n_rules=np.zeros(capacity, np.int32),
        first=np.zeros((n_symbols, max_cost + 2), np.int64),
        last=np.zeros((n_symbols, max_cost + 2), np.int64),
        n_of=np.zeros(n_symbols, np.int64),
        n_cheapest=np.zeros(n_symbols, np.int64),
        member=np.zeros((n_symbols, capacity), np.int32),
        directions=directions,
        columns=room,
        ones=np.ones(MAX_LENGTH),
        keys=np.zeros((2, n_keys), np.uint64),
        slots=np.zeros((2, n_keys), np.int32),
        stack=np.zeros(MAX_LENGTH * max(n, 64)),
        used=np.array([0, 0, max_cost], np.int64),
    )


@kernel(fastmath=FAST_MATH)
def _sum(values, at, n):
    total = 0.0
    for j in range(n):
        total += values[at + j]
    return total


@kernel(fastmath=FAST_MATH)
def _sum_of_squares(values, at, n, mean):
    total = 0.0
    for j in range(n):
        total += (values[at + j] - mean) * (values[at + j] - mean)
    return total


@kernel(fastmath=FAST_MATH)
def _project(values, at, n, mean, directions, k):
    total = 0.0
    for j in range(n):
        total += (values[at + j] - mean) * directions[k, j]
    return total


@kernel
def find_spot(values, at, n, mode, directions):
    """Return where values[at : at + n] are on the grid; a size of 0 or NaN if they have no place there."""
    mean = _sum(values, at, n) / n if mode == UP_TO_SCALE_AND_OFFSET else 0.0
    square = _sum_of_squares(values, at, n, mean)
    if not (square > 0.0 and square < LARGEST * LARGEST):
        return Spot(0.0, 0.0, 0.0)
    size = np.sqrt(square)
    if mode == UP_TO_SCALE_AND_OFFSET and size <= CONSTANT_SPREAD * abs(mean) * np.sqrt(n):
        return Spot(0.0, 0.0, 0.0)
    a = _project(values, at, n, mean, directions, 0) / size
    if mode == EXACT:
        return Spot(a, np.log(size), size)
    b = _project(values, at, n, mean, directions, 1) / size
    if a < 0.0:
        a, b = -a, -b
    return Spot(a, b, size)


@kernel
def cell_key(a, b, symbol):
    """Return the key of a cell of the grid; never 0."""
    key = scramble(np.uint64(np.int64(a)) * _SALT + np.uint64(symbol))
    return scramble(key ^ np.uint64(np.int64(b))) | np.uint64(1)


@kernel
def _are_equal(values, at, others, other, n, size):
    """Tell whether two rows agree to a small share of the size of the first."""
    distance = 0.0
    for j in range(n):
        distance += (values[at + j] - others[other + j]) ** 2
    return distance <= (SAME * size) ** 2


@kernel(fastmath=FAST_MATH)
def correlate(values, at, others, other, n, mode):
    """Return scale and offset by which the second row comes nearest to the first, and the square of what is left."""
    mean_a = _sum(values, at, n) / n if mode == UP_TO_SCALE_AND_OFFSET else 0.0
    mean_b = _sum(others, other, n) / n if mode == UP_TO_SCALE_AND_OFFSET else 0.0
    ab = 0.0
    bb = 0.0
    for j in range(n):
        ab += (values[at + j] - mean_a) * (others[other + j] - mean_b)
        bb += (others[other + j] - mean_b) * (others[other + j] - mean_b)
    scale = ab / bb if bb > 0.0 else 0.0
    left = 0.0
    for j in range(n):
        left += (values[at + j] - mean_a - scale * (others[other + j] - mean_b)) ** 2
    return scale, mean_a - scale * mean_b, left


@kernel
def _matches(bank, entry, values, at, mode, size):
    n = bank.n_values
    if mode == EXACT:
        return _are_equal(values, at, bank.values, np.int64(entry) * n, n, size)
    return correlate(values, at, bank.values, np.int64(entry) * n, n, mode)[2] <= (SAME * size) ** 2


@kernel
def _find_in_cell(bank, table, key, values, at, mode, size):
    mask = np.int64(bank.keys.shape[1] - 1)
    place = np.int64(key >> np.uint64(8)) & mask
    while bank.keys[table, place] != np.uint64(0):
        if bank.keys[table, place] == key and _matches(bank, bank.slots[table, place], values, at, mode, size):
            return np.int64(bank.slots[table, place])
        place = (place + 1) & mask
    return np.int64(-1)


@kernel
def _side(x):
    """Return whether the cell below (-1) or above (1) must be looked at too, or neither (0)."""
    within = x - np.floor(x)
    return -1.0 if within < BORDER else (1.0 if within > 1.0 - BORDER else 0.0)


@kernel
def find_at(bank, table, spot, symbol, values, at, mode):
    """Return the entry of a symbol with these values, up to the mode; -1 if there is none."""
    a, b = spot.a * GRID, spot.b * GRID
    found = _find_in_cell(bank, table, cell_key(np.floor(a), np.floor(b), symbol), values, at, mode, spot.size)
    side_a, side_b = _side(a), _side(b)
    if found >= 0 or (side_a == 0.0 and side_b == 0.0):
        return found
    for k in range(1, 4):
        da = side_a if k & 1 else 0.0
        db = side_b if k & 2 else 0.0
        if (k & 1 and side_a == 0.0) or (k & 2 and side_b == 0.0):
            continue
        cell_a, cell_b = np.floor(a) + da, np.floor(b) + db
        if cell_a < 0.0 and mode != EXACT:  # the sign was undecided: the entry may lie at the opposite point
            cell_a = 0.0
            cell_b = np.floor(-b) - db
        found = _find_in_cell(bank, table, cell_key(cell_a, cell_b, symbol), values, at, mode, spot.size)
        if found >= 0:
            return found
    return np.int64(-1)


@kernel
def enter_cell(bank, table, spot, symbol, entry):
    """Put an entry into the cell where its values are."""
    key = cell_key(np.floor(spot.a * GRID), np.floor(spot.b * GRID), symbol)
    mask = np.int64(bank.keys.shape[1] - 1)
    place = np.int64(key >> np.uint64(8)) & mask
    while bank.keys[table, place] != np.uint64(0):
        place = (place + 1) & mask
    bank.keys[table, place] = key
    bank.slots[table, place] = entry


@apart
def look_up(bank, symbol, mode, values, at):
    """Return the entry of a symbol whose values are values[at : at + n] up to the mode; -1 if there is none."""
    spot = find_spot(values, at, bank.n_values, mode, bank.directions)
    if not spot.size > 0.0:
        return np.int64(-1)
    return find_at(bank, np.int64(mode != EXACT), spot, symbol, values, at, mode)


@apart
def _try_entry(bank, rules, rule, left, right):
    """Keep the program whose values are in the next free row, unless its symbol has these values already."""
    used = bank.used
    used[N_TRIED] += 1
    entry = used[N_ENTRIES]
    n = bank.n_values
    at = entry * n
    symbol = rules.symbol[rule]
    spot = find_spot(bank.values, at, n, np.int64(EXACT), bank.directions)
    if not spot.size > 0.0 or find_at(bank, np.int64(0), spot, symbol, bank.values, at, np.int64(EXACT)) >= 0:
        return
    enter_cell(bank, np.int64(0), spot, symbol, entry)
    mode = rules.mode[symbol]
    if mode != EXACT:
        free = find_spot(bank.values, at, n, mode, bank.directions)
        if free.size > 0.0 and find_at(bank, np.int64(1), free, symbol, bank.values, at, mode) < 0:
            enter_cell(bank, np.int64(1), free, symbol, entry)
    bank.rule[entry] = rule
    bank.left[entry] = left
    bank.right[entry] = right
    bank.cost[entry] = rules.cost[rule]
    bank.n_rules[entry] = rules.n_rules[rule]
    if left >= 0:
        bank.cost[entry] += bank.cost[left]
        bank.n_rules[entry] += bank.n_rules[left]
    if right >= 0:
        bank.cost[entry] += bank.cost[right]
        bank.n_rules[entry] += bank.n_rules[right]
    bank.member[symbol, bank.n_of[symbol]] = entry
    bank.n_of[symbol] += 1
    used[N_ENTRIES] += 1


@apart
def _make_values(bank, rules, alphabet, rule, left, right):
    """Put the values of a rule's template, with these entries in its holes, into the next free row."""
    n = bank.n_values
    at = bank.used[N_ENTRIES] * n
    operator = rules.operator[rule]
    if operator >= 0 and right >= 0:
        copy_row(bank.values, right * n, bank.values, at, n)
        apply_binary(operator, alphabet.user, bank.values, left * n, bank.values, at, n)
        return
    if operator >= 0:
        copy_row(bank.values, left * n, bank.values, at, n)
        apply_unary(operator, alphabet.user, bank.values, at, n)
        return
    n_columns = bank.columns.shape[0] - MAX_HOLES
    if left >= 0:
        copy_row(bank.values, left * n, bank.columns, n_columns * n, n)
    if right >= 0:
        copy_row(bank.values, right * n, bank.columns, (n_columns + 1) * n, n)
    first = rules.items_first[rule]
    length = rules.items_first[rule + 1] - first
    items = rules.items[first : first + length]
    evaluate(items, length, bank.ones, alphabet, bank.columns, np.int64(0), n, bank.stack)
    copy_row(bank.stack, 0, bank.values, at, n)


@kernel
def _is_full(bank, rules, symbol):
    return bank.used[N_ENTRIES] + 1 >= bank.rule.size or bank.n_of[symbol] >= rules.capacity[symbol]


@kernel
def _grow_pairs(bank, rules, alphabet, rule, cost):
    """Try all pairs of entries that give a rule with two symbols this cost; of a sum or product, one order only."""
    a, b = rules.hole[rule, 0], rules.hole[rule, 1]
    rest = cost - rules.cost[rule]
    operator = rules.operator[rule]
    is_symmetric = a == b and (operator == ADD or operator == MUL)
    for left_cost in range(1, rest):
        right_cost = rest - left_cost
        if is_symmetric and left_cost < right_cost:
            continue
        for left in range(bank.first[a, left_cost], bank.last[a, left_cost]):
            for right in range(bank.first[b, right_cost], bank.last[b, right_cost]):
                if is_symmetric and right > left:
                    break
                if _is_full(bank, rules, rules.symbol[rule]):
                    return
                _make_values(bank, rules, alphabet, rule, left, right)
                _try_entry(bank, rules, rule, left, right)


@kernel
def _grow_rule(bank, rules, alphabet, rule, cost):
    """Try all programs of this cost that begin with a rule."""
    none = np.int64(-1)
    if rules.n_holes[rule] == 2:
        _grow_pairs(bank, rules, alphabet, rule, cost)
    elif rules.n_holes[rule] == 1:
        rest = cost - rules.cost[rule]
        if rest < 1:
            return
        hole = rules.hole[rule, 0]
        for left in range(bank.first[hole, rest], bank.last[hole, rest]):
            if _is_full(bank, rules, rules.symbol[rule]):
                return
            _make_values(bank, rules, alphabet, rule, left, none)
            _try_entry(bank, rules, rule, left, none)
    elif rules.cost[rule] == cost and not _is_full(bank, rules, rules.symbol[rule]):
        _make_values(bank, rules, alphabet, rule, none, none)
        _try_entry(bank, rules, rule, none, none)


@kernel
def _is_constant(rules, rule):
    return rules.items[rules.items_first[rule]] == CONSTANT << KIND_SHIFT


@kernel
def _enter_one(bank, rules, alphabet, symbol):
    """Keep the number 1 if the symbol derives a constant; of no cost, for what is made of it would crowd out better entries."""
    none = np.int64(-1)
    for rule in range(rules.symbol.size):
        if rules.symbol[rule] == symbol and _is_constant(rules, rule) and not _is_full(bank, rules, symbol):
            _make_values(bank, rules, alphabet, rule, none, none)
            _try_entry(bank, rules, rule, none, none)


@kernel(entry=True)
def grow_bank(bank, rules, alphabet, max_tried):
    """Fill the bank cost by cost, symbol by symbol, until it is full, the largest cost is done, or so many programs were tried.

    The order is that of the rules and entries, so the same grammar and rows give the same bank. Levels are finished even if that
    takes more tries.
    """
    n_symbols = bank.first.shape[0]
    for cost in range(1, bank.used[MAX_COST] + 1):
        if bank.used[N_TRIED] >= max_tried or bank.used[N_ENTRIES] + 1 >= bank.rule.size:
            return
        for symbol in range(n_symbols):
            bank.first[symbol, cost] = bank.used[N_ENTRIES]
            for rule in range(rules.symbol.size):
                if rules.symbol[rule] == symbol and not _is_constant(rules, rule):
                    _grow_rule(bank, rules, alphabet, rule, cost)
            bank.last[symbol, cost] = bank.used[N_ENTRIES]
            if cost == 1:
                _enter_one(bank, rules, alphabet, symbol)
                bank.n_cheapest[symbol] = bank.n_of[symbol]


@kernel(entry=True)
def grow_sums(bank, rules, alphabet, symbol, members, n_partners):
    """Try the sums and differences of these entries of a symbol with the first few of them, in their order, until the bank is full.

    They come after all others whatever their cost: laws have sums of products, which are too costly to be reached otherwise.
    """
    for later in range(members.size):
        for earlier in range(min(later, n_partners)):
            for rule in range(rules.symbol.size):
                operator = rules.operator[rule]
                is_fitting = rules.hole[rule, 0] == symbol and rules.hole[rule, 1] == symbol
                if rules.symbol[rule] != symbol or not is_fitting or (operator != ADD and operator != SUB):
                    continue
                for side in range(1 if operator == ADD or rules.mode[symbol] != EXACT else 2):
                    if _is_full(bank, rules, symbol):
                        return
                    left, right = np.int64(members[later]), np.int64(members[earlier])
                    if side == 1:
                        left, right = right, left
                    _make_values(bank, rules, alphabet, rule, left, right)
                    _try_entry(bank, rules, rule, left, right)


@apart
def write_entry(bank, rules, entry, tokens, origin, length):
    """Append the tokens of an entry to tokens[:length]; return the new length, or -1 if there is no room.

    `origin` gets the symbol of each subtree that a rule made, else -1. Works on a stack inside the free end of `tokens`: entries
    still to be spelled, as negative numbers.
    """
    first_hole = (VARIABLE << KIND_SHIFT) + bank.columns.shape[0] - MAX_HOLES
    top = tokens.size - 1
    if length < 0 or length >= top:
        return np.int64(-1)
    tokens[top] = -1 - entry
    symbol = np.int64(-1)
    while top < tokens.size:
        item = tokens[top]
        top += 1
        if item >= 0:
            tokens[length] = item
            origin[length] = symbol
            symbol = np.int64(-1)
            length += 1
            continue
        entry = np.int64(-1 - item)
        rule = bank.rule[entry]
        first, last = rules.items_first[rule], rules.items_first[rule + 1]
        if top - (last - first) <= length:
            return np.int64(-1)
        for i in range(last - 1, first - 1, -1):
            top -= 1
            tokens[top] = rules.items[i]
            if rules.items[i] == first_hole:
                tokens[top] = -1 - bank.left[entry]
            elif rules.items[i] == first_hole + 1:
                tokens[top] = -1 - bank.right[entry]
        symbol = rules.symbol[rule]  # a template begins with a token, which comes next
    return length


@kernel(entry=True)
def look_up_entry(bank, symbol, mode, values):
    """Return the entry of a symbol with these n values, up to the mode; -1 if there is none. For callers in Python."""
    return look_up(bank, symbol, mode, values, np.int64(0))


@kernel(entry=True)
def spell_entry_tokens(bank, rules, entry, tokens, origin):
    """Write the tokens of an entry; return their number, or -1 if there is no room. For callers in Python."""
    return write_entry(bank, rules, entry, tokens, origin, np.int64(0))


@kernel(entry=True)
def evaluate_entries(bank, rules, alphabet, columns, symbol, out, tokens, origin, stack):
    """Put the values of the first entries of a symbol on columns [D, N], N <= BLOCK, into out[K, N]; return how many there are.

    One that leaves its domain, or has too many tokens, becomes a row of zeros.
    """
    n = columns.shape[1]
    n_entries = min(out.shape[0], bank.n_of[symbol])
    for k in range(n_entries):
        length = write_entry(bank, rules, np.int64(bank.member[symbol, k]), tokens, origin, np.int64(0))
        if length > 0:
            evaluate(tokens, length, bank.ones, alphabet, columns, np.int64(0), n, stack)
        is_whole = length > 0
        for j in range(n):
            is_whole = is_whole and np.isfinite(stack[j])
        for j in range(n):
            out[k, j] = stack[j] if is_whole else 0.0
    return n_entries
