import io

from rich.console import Console
from tests.bench.experiments import make_trial

from spl.bench.progress import TrialBar, TrialLines
from spl.bench.runner import Tally


def tally(n_done, n_trials=200):
    trial = make_trial() if n_done < n_trials else None
    return Tally(n_trials=n_trials, n_done=n_done, n_recovered=n_done // 2, seconds_left=120.0, next_trial=trial)


def test_where_there_is_no_terminal_a_line_a_tenth_is_enough():
    console = Console(file=io.StringIO(), width=100)
    with TrialLines(console) as display:
        for n_done in range(40, 201):
            display(tally(n_done))
    lines = console.file.getvalue().splitlines()
    assert len(lines) == 8
    assert lines[0] == "60 of 200 trials done, 30 recovered, about 2 min left"
    assert lines[-1] == "200 of 200 trials done, 100 recovered"


def test_the_bar_has_count_percentage_time_left_and_problem():
    console = Console(file=io.StringIO(), width=120, force_terminal=True)
    with TrialBar(console) as display:
        display(tally(50))
    shown = console.file.getvalue()
    for words in ("Nguyen-1, seed 0", "50 of 200", "25%", "25 recovered, about 2 min left"):
        assert words in shown
