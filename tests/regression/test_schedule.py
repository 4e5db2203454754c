from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spl.regression.schedule import BATCH_EPISODES, FIRST_EPISODES, Position, batch_end


@given(st.integers(1, 30_000))
def test_the_batches_of_a_round_grow_and_end_with_it(n_episodes):
    ends = [0]
    while ends[-1] < n_episodes:
        ends.append(batch_end(len(ends) - 1, n_episodes))
    sizes = [after - before for before, after in pairwise(ends)]
    assert sizes[0] == min(FIRST_EPISODES, n_episodes)
    assert sizes[:-1] == sorted(sizes[:-1])
    assert max(sizes) <= BATCH_EPISODES


def test_a_batch_after_the_last_ends_with_the_round():
    assert batch_end(10**15, 1_000) == 1_000


def test_a_schedule_goes_through_all_rounds_and_starts_over():
    position, seen = Position(), []
    for _ in range(5):
        seen.append((position.schedule, position.round))
        position = position.next_round(2)
    assert seen == [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0)]


@pytest.mark.parametrize("n_rounds", [1, 3])
def test_a_new_round_starts_with_its_first_batch(n_rounds):
    assert Position().next_batch().next_batch() == Position(batch=2)
    assert Position(batch=2).next_round(n_rounds).batch == 0
