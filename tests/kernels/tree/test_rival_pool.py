"""The pool of rivals against a plain list."""

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kernels.search_twins import fewer
from tests.kernels.small_search import Search
from tests.kernels.tree.test_ledger import make_program, make_small_ledger, number_of

from spl.kernels.programs.evaluate import arity_of
from spl.kernels.tree.ledger import MAX_RIVALS, make_records
from spl.kernels.tree.rival_pool import SAME_LOSS_SHARE, enter_rivals

N_PLACES = 4


def make_pool():
    """Return a ledger whose pool has few places."""
    return make_small_ledger()._replace(rivals=make_records(N_PLACES), rival_lengths=np.full(N_PLACES, np.inf))


class PlainPool:
    """The pool as it is defined: entries (length, loss, number) in places."""

    def __init__(self):
        self.entries = []

    def enter(self, length, loss, number):
        same = [k for k, entry in enumerate(self.entries) if abs(entry[1] - loss) <= SAME_LOSS_SHARE * loss]
        longest = max((entry[0] for entry in self.entries), default=np.inf)
        if len(self.entries) == N_PLACES and not length < longest:
            return
        if same:
            if length < self.entries[same[0]][0]:
                self.entries[same[0]] = (length, loss, number)
        elif len(self.entries) < N_PLACES:
            self.entries.append((length, loss, number))
        else:
            place = next(k for k, entry in enumerate(self.entries) if entry[0] == longest)
            self.entries[place] = (length, loss, number)


@settings(max_examples=fewer(150, 60), deadline=None)
@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(1, 12)), max_size=30))
def test_the_pool_holds_what_a_plain_list_holds(programs):
    ledger, plain = make_pool(), PlainPool()
    for number, (length, loss) in enumerate(programs):
        derivation, constants = make_program(number)
        enter_rivals(ledger, derivation, constants, float(loss), 0.5, float(length))
        plain.enter(length, loss, number)
    n_used = int(np.isfinite(ledger.rival_lengths).sum())
    found = [(ledger.rival_lengths[k], ledger.rivals[k].loss, number_of(ledger.rivals[k])) for k in range(n_used)]
    assert found == plain.entries


def test_a_search_keeps_distinct_programs_that_the_front_does_not_have():
    search = Search(n_rows=20)
    search.run(300)
    ledger = search.ledger
    is_used = np.isfinite(ledger.rival_lengths)
    assert 20 < is_used.sum() <= MAX_RIVALS
    losses = np.asarray(ledger.rivals.loss)[is_used]
    ordered = np.sort(losses)
    assert np.all(np.diff(ordered) > SAME_LOSS_SHARE * ordered[1:] * 0.99)
    assert not set(losses) <= set(ledger.front.loss)


def test_longer_programs_and_larger_losses_have_longer_descriptions():
    search = Search(n_rows=20)
    search.run(300)
    ledger = search.ledger
    used = np.flatnonzero(np.isfinite(ledger.rival_lengths))
    errors = [ledger.rival_lengths[k] - 20 * np.log(max(ledger.rivals[k].loss, 1e-9)) for k in used]
    sizes = [sum(arity_of(token) == 0 for token in ledger.rivals[k].tokens[: ledger.rivals[k].length]) for k in used]
    by_size = {size: {round(e, 9) for e, s in zip(errors, sizes, strict=True) if s == size} for size in set(sizes)}
    ordered = [by_size[size] for size in sorted(by_size)]
    assert len(ordered) > 1
    assert all(max(few) < min(many) for few, many in pairwise(ordered))
