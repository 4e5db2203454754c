"""The limit holds on a busy machine: clocks of our own tell the time, so that nothing waits."""

import pytest

from spl.regression.time_limit import LEAST_POLISH_SECONDS, MOST_KEPT, MOST_SLOWNESS, TimeLimit


class Machine:
    """A machine on which everything takes so many times as long as on an idle one."""

    def __init__(self, slowness=1.0):
        self.slowness, self.now, self.work = slowness, 100.0, 0.0

    def do(self, seconds):
        self.work += seconds
        self.now += seconds * self.slowness

    def limit(self, seconds, n_rows=100, began=None):
        return TimeLimit(
            seconds, n_rows, self.now if began is None else began, clock=lambda: self.now, work_clock=lambda: self.work
        )


def search(machine, limit, look=0.0, step=0.01):
    """Search until it is time to finish, with looks at the results in between; return the seconds that are left then."""
    while not limit.is_time_to_finish():
        machine.do(step)
        with limit.look():
            machine.do(look)
    return limit.seconds_left


def test_without_a_limit_the_time_is_never_up():
    machine = Machine()
    limit = machine.limit(None)
    machine.do(1e9)
    assert not limit.is_time_to_finish()
    assert limit.seconds == pytest.approx(1e9)
    assert limit.seconds_left == float("inf")


@pytest.mark.slow
@pytest.mark.parametrize(("seconds", "kept"), [(4.0, LEAST_POLISH_SECONDS), (60.0, 3.0), (10_000.0, 30.0)])
def test_on_an_idle_machine_a_small_part_is_kept_for_the_end(seconds, kept):
    machine = Machine()
    assert search(machine, machine.limit(seconds)) == pytest.approx(kept, abs=0.02)


def test_a_last_look_has_its_time():
    machine = Machine()
    left = search(machine, machine.limit(20.0), look=0.4)
    assert 1.4 - 0.42 < left <= 1.4  # 1 s for the fits, 0.4 s for a look; the clock is read after each of 0.41 s


@pytest.mark.parametrize("slowness", [1.0, 2.0, 4.0])
def test_the_end_is_in_time_however_slow_the_machine_is(slowness):
    machine = Machine(slowness)
    limit = machine.limit(12.0)
    search(machine, limit, look=0.1)
    machine.do(0.1)  # a last look
    machine.do(0.3)  # the last fits
    assert -0.6 <= limit.seconds_left < 2.0  # a search ends at the next look at the clock


def test_many_rows_have_more_time_and_on_a_slow_machine_more_still():
    left = []
    for slowness in (1.0, 3.0):
        machine = Machine(slowness)
        left.append(search(machine, machine.limit(60.0, n_rows=1_000_000), look=0.01))
    assert left[0] == pytest.approx(5.0, abs=0.1)
    assert left[1] == pytest.approx(9.0, abs=0.1)


def test_at_most_half_of_the_limit_is_kept():
    machine = Machine(1000.0)
    limit = machine.limit(2.0, n_rows=10**9)
    with limit.look():
        machine.do(0.0001)
    assert limit.slowness == MOST_SLOWNESS
    assert search(machine, limit, step=1e-5) == pytest.approx(MOST_KEPT * 2.0, abs=0.05)


def test_one_slow_look_is_forgotten():
    machine = Machine()
    limit = machine.limit(60.0)
    with limit.look():
        machine.do(10.0)
    assert search(machine, limit, look=0.001) == pytest.approx(3.0, abs=0.05)


def test_what_came_before_the_search_counts_up_to_half_of_the_limit():
    machine = Machine()
    machine.do(3.0)
    assert machine.limit(10.0, began=100.0).seconds_left == pytest.approx(7.0)
    assert machine.limit(4.0, began=100.0).seconds_left == pytest.approx(2.0)
    assert machine.limit(None, began=100.0).seconds == pytest.approx(3.0)
