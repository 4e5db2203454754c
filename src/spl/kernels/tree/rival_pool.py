"""The rivals of a tree: the distinct programs with the shortest rough descriptions, whatever their cost.

The front of a ledger keeps one program per cost. Here are those that data may be unable to tell from the best. Their descriptions are
priced roughly, because that is done for each program; `regression/rivals` prices those that are kept.
"""

import numpy as np

from spl.kernels.programs.evaluate import arity_of
from spl.kernels.programs.tokens import (
    ADD,
    CONSTANT,
    CUBE,
    DIV,
    INV,
    KIND_SHIFT,
    LITERAL,
    MUL,
    NEG,
    POWER,
    SQUARE,
    SUB,
)
from spl.kernels.runtime.compiler import kernel
from spl.kernels.tree.ledger import write_record

SAME_LOSS_SHARE = 1e-6  # programs whose losses differ by less are one: fits within a search are no more precise
LEAST_LOSS_SHARE = 1e-9  # of the spread: programs with smaller losses are all exact
# As in `regression/description_length`, but for numbers, whose price depends on the data there
ARITHMETIC_NATS, SPELLED_TWICE_NATS, FUNCTION_NATS, NUMBER_NATS = 2.37, 1.67, 3.69, 3.0


@kernel
def rough_length(derivation, loss, context):
    """Return about how many nats it takes to write down a program and its errors, up to a constant."""
    n_columns, n_rows = context.table.columns.shape
    leaf_nats = np.log(2.0 * (n_columns + 1))
    price = 0.0
    for i in range(derivation.n_tokens):
        token = derivation.tokens[i]
        kind = token >> KIND_SHIFT
        if kind == CONSTANT or kind == LITERAL:
            price += NUMBER_NATS
        if arity_of(token) == 0:
            price += leaf_nats
        elif token == ADD or token == MUL:
            price += SPELLED_TWICE_NATS
        elif kind == POWER or token in (SUB, DIV, NEG, INV, SQUARE, CUBE):
            price += ARITHMETIC_NATS
        else:
            price += FUNCTION_NATS
    return n_rows * np.log(max(loss * context.policy.loss_scale, LEAST_LOSS_SHARE)) + price


@kernel
def enter_rivals(ledger, derivation, constants, loss, reward, length):
    """Keep the program if its description is among the shortest.

    Of two with the same loss, the shorter one stays; of equals, the earlier one. A full pool gives up its longest description, the
    first of equals. Places in use come before free ones.
    """
    lengths, worst = ledger.rival_lengths, ledger.worst_rival
    if not length < lengths[worst[0]]:
        return
    place = worst[0]
    for k in range(lengths.size):
        if lengths[k] == np.inf:
            break
        if abs(ledger.rivals[k].loss - loss) <= SAME_LOSS_SHARE * loss:
            if not length < lengths[k]:
                return
            place = k
            break
    write_record(ledger.rivals[place], derivation, constants, loss, reward)
    lengths[place] = length
    if place == worst[0]:
        worst[0] = np.argmax(lengths)
