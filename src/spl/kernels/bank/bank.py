"""The bank: small programs with distinct values for each symbol of a grammar, the cheapest first. Their only constant is 1.

It is grown bottom-up: all programs of one cost are made from cheaper ones by the rules of the grammar. A program with the values of an
earlier one of its symbol is dropped. Entries are found by their values; where the grammar has constants, up to scale, or up to scale
and offset; see `value_index`.
"""

from typing import NamedTuple

import numpy as np

from spl.kernels.bank.value_index import (
    CELL,
    IDENTICAL,
    MAX_CELLS_PER_ENTRY,
    enter_cell,
    find_at,
    find_spot,
    look_up,
    make_cells,
)
from spl.kernels.programs.evaluate import evaluate
from spl.kernels.programs.rows import apply_binary, apply_unary, copy_row
from spl.kernels.programs.tokens import ADD, CONSTANT, KIND_SHIFT, MAX_PROGRAM_LENGTH, MUL, SUB, VARIABLE
from spl.kernels.runtime.compiler import kernel
from spl.kernels.runtime.linking import linked_kernel

MAX_HOLES = 2  # of a rule that makes entries

# What the bank knows of an entry besides its values
ENTRY = np.dtype(
    [("rule", np.int32), ("left", np.int32), ("right", np.int32), ("cost", np.int32), ("n_rules", np.int32)]
)
MEMBER = np.dtype(np.int32)  # an entry in the list of a symbol
N_TABLES = 2  # hash tables: of exact values, and of values up to the symbol's mode

# Places in `Bank.used`
N_ENTRIES, N_TRIED_PROGRAMS, LAST_COST = range(3)


class BankRules(NamedTuple):
    """The rules of a grammar with at most two symbols, without constants except a bare one; renamed symbols are resolved."""

    symbol: np.ndarray  # int64[R], the symbol that it replaces
    cost: np.ndarray  # int64[R], of the tokens of its template
    n_rules: np.ndarray  # int64[R], rules of the grammar that it combines
    n_holes: np.ndarray  # int64[R], symbols in its template
    hole: np.ndarray  # int64[R, MAX_HOLES], these symbols; -1 if there are fewer
    operator: np.ndarray  # int64[R], the token if the template is one operator applied to its symbols, else -1
    items_first: np.ndarray  # int64[R + 1], where its template begins
    items: np.ndarray  # int32[I], tokens; its symbols are the variables D and D + 1
    mode: np.ndarray  # int64[S], how an entry of each symbol may differ from the values looked up
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
    n_cheapest: np.ndarray  # int64[S], how many of them have cost 1 or are the number 1; these come first
    member: np.ndarray  # int32[S, M], the entries of each symbol in order
    directions: np.ndarray  # float64[3, n], unit vectors orthogonal to each other and to a constant
    columns: np.ndarray  # float64[D + 2, n], the variables, and room for two operands
    ones: np.ndarray  # float64[MAX_PROGRAM_LENGTH], the constants of every entry
    keys: np.ndarray  # uint64[2, H], cells with an entry: exact ones, and up to the symbol's mode; 0 is free
    slots: np.ndarray  # int32[2, H], the entry
    marks: np.ndarray  # float32[2, H], its third coordinate
    stack: np.ndarray  # float64[...], scratch of `evaluate`
    used: np.ndarray  # int64[3]


def make_bank(columns, n_symbols, capacity, max_cost, directions):
    """Return an empty bank for entries with the values that they have on columns [D, n]."""
    n = columns.shape[1]
    keys, slots, marks = make_cells(N_TABLES, capacity)
    room = np.zeros((columns.shape[0] + MAX_HOLES, n))
    room[: columns.shape[0]] = columns
    return Bank(
        values=np.zeros((capacity + 1) * n),
        n_values=n,
        rule=np.zeros(capacity, ENTRY["rule"]),
        left=np.full(capacity, -1, ENTRY["left"]),
        right=np.full(capacity, -1, ENTRY["right"]),
        cost=np.zeros(capacity, ENTRY["cost"]),
        n_rules=np.zeros(capacity, ENTRY["n_rules"]),
        first=np.zeros((n_symbols, max_cost + 2), np.int64),
        last=np.zeros((n_symbols, max_cost + 2), np.int64),
        n_of=np.zeros(n_symbols, np.int64),
        n_cheapest=np.zeros(n_symbols, np.int64),
        member=np.zeros((n_symbols, capacity), MEMBER),
        directions=directions,
        columns=room,
        ones=np.ones(MAX_PROGRAM_LENGTH),
        keys=keys,
        slots=slots,
        marks=marks,
        stack=np.zeros(MAX_PROGRAM_LENGTH * max(n, 64)),
        used=np.array([0, 0, max_cost], np.int64),
    )


def bytes_per_entry(n_values, n_symbols):
    """Return the most bytes that each entry of a bank takes."""
    values = n_values * np.dtype(np.float64).itemsize
    return values + ENTRY.itemsize + n_symbols * MEMBER.itemsize + N_TABLES * MAX_CELLS_PER_ENTRY * CELL.itemsize


@linked_kernel
def _try_entry(bank, rules, rule, left, right) -> None:
    """Keep the program whose values are in the next free row, unless its symbol already has these values."""
    used = bank.used
    used[N_TRIED_PROGRAMS] += 1
    entry = used[N_ENTRIES]
    n = bank.n_values
    at = entry * n
    symbol = rules.symbol[rule]
    spot = find_spot(bank.values, at, n, np.int64(IDENTICAL), bank.directions)
    if not spot.size > 0.0 or find_at(bank, np.int64(0), spot, symbol, bank.values, at, np.int64(IDENTICAL)) >= 0:
        return
    enter_cell(bank, np.int64(0), spot, symbol, entry)
    mode = rules.mode[symbol]
    if mode != IDENTICAL:
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


@linked_kernel
def _make_values(bank, rules, alphabet, rule, left, right) -> None:
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
    """Keep the number 1 if the symbol derives a constant; without a cost, as programs made of it would crowd out better entries."""
    none = np.int64(-1)
    for rule in range(rules.symbol.size):
        if rules.symbol[rule] == symbol and _is_constant(rules, rule) and not _is_full(bank, rules, symbol):
            _make_values(bank, rules, alphabet, rule, none, none)
            _try_entry(bank, rules, rule, none, none)


@kernel
def grow_bank(bank, rules, alphabet, max_tried):
    """Fill the bank cost by cost, symbol by symbol, until it is full, the last cost is done, or max_tried programs were tried.

    The order is that of the rules and entries, so the same grammar and rows give the same bank. A cost that was begun is finished even
    if that takes more tries.
    """
    n_symbols = bank.first.shape[0]
    for cost in range(1, bank.used[LAST_COST] + 1):
        if bank.used[N_TRIED_PROGRAMS] >= max_tried or bank.used[N_ENTRIES] + 1 >= bank.rule.size:
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


@kernel
def grow_sums(bank, rules, alphabet, symbol, members, n_partners):
    """Try the sums and differences of these entries of a symbol with the first few of them, in order, until the bank is full.

    They come after all others, whatever their cost: laws have sums of products, which are too costly to be reached otherwise.
    """
    for later in range(members.size):
        for earlier in range(min(later, n_partners)):
            for rule in range(rules.symbol.size):
                operator = rules.operator[rule]
                is_fitting = rules.hole[rule, 0] == symbol and rules.hole[rule, 1] == symbol
                if rules.symbol[rule] != symbol or not is_fitting or (operator != ADD and operator != SUB):
                    continue
                for side in range(1 if operator == ADD or rules.mode[symbol] != IDENTICAL else 2):
                    if _is_full(bank, rules, symbol):
                        return
                    left, right = np.int64(members[later]), np.int64(members[earlier])
                    if side == 1:
                        left, right = right, left
                    _make_values(bank, rules, alphabet, rule, left, right)
                    _try_entry(bank, rules, rule, left, right)


@linked_kernel
def write_entry(bank, rules, entry, tokens, origin, length) -> int:
    """Append the tokens of an entry to tokens[:length]; return the new length, or -1 if there is no room.

    `origin` gets the symbol of each subtree that a rule made, else -1. The free end of `tokens` serves as a stack of entries still to
    be written, as negative numbers.
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


@kernel
def look_up_entry(bank, symbol, mode, values):
    """Return the entry of a symbol with these n values, up to the mode; -1 if there is none. For callers in Python."""
    return look_up(bank, symbol, mode, values, np.int64(0))


@kernel
def spell_entry_tokens(bank, rules, entry, tokens, origin):
    """Write the tokens of an entry; return their number, or -1 if there is no room. For callers in Python."""
    return write_entry(bank, rules, entry, tokens, origin, np.int64(0))


@kernel
def evaluate_entries(bank, rules, alphabet, columns, entries, out, tokens, origin, stack):
    """Put the values of K entries on columns [D, N], N <= BLOCK, into out[K, N].

    An entry that leaves its domain or has too many tokens becomes a row of zeros.
    """
    n = columns.shape[1]
    for k in range(entries.size):
        length = write_entry(bank, rules, np.int64(entries[k]), tokens, origin, np.int64(0))
        if length > 0:
            evaluate(tokens, length, bank.ones, alphabet, columns, np.int64(0), n, stack)
        is_whole = length > 0
        for j in range(n):
            is_whole = is_whole and np.isfinite(stack[j])
        for j in range(n):
            out[k, j] = stack[j] if is_whole else 0.0
