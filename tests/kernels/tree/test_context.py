"""The record that the kernels of a tree share."""

import numpy as np
from tests.kernels.small_search import Search

from spl.kernels.tree.context import SearchContext, make_search_work


def test_scratch_has_room_for_the_path_of_the_longest_derivation():
    work = make_search_work(5)
    assert work.path.size == work.slots.size == 5 + 2  # the root, a node per rule, and one beyond


def test_the_scratch_of_two_threads_shares_nothing():
    first, second = make_search_work(5), make_search_work(5)
    for a, b in zip(first, second, strict=True):
        assert not np.shares_memory(np.asarray(a), np.asarray(b))


def test_kernels_write_into_the_arrays_of_the_context():
    search = Search()
    context = search.context
    assert isinstance(context, SearchContext)
    search.run(3)
    assert context.ledger.totals is search.ledger.totals
    assert context.ledger.totals.any()
    assert context.random is search.random
