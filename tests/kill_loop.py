"""Kills a run again and again at random moments, and continues it each time; prints what it saw as JSON.

Children are forked from this process, which has the kernels loaded: a restart costs milliseconds. Not a test by itself: see
`test_faults`.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from tests.run_examples import make_config, search_in_file

from spl.errors import RunFileError
from spl.regression.warm_up import compile_kernels
from spl.runs.reader import read_run
from spl.settings import SearchConfig

LONGEST_SECONDS = 0.5  # between a start and its end by force


def make_quick_config(max_schedules: int) -> SearchConfig:
    """Return a search that begins at once, because it has no bank to grow, and never ends of itself."""
    return make_config(max_schedules, n_completions=0, n_episodes=300, patience=None)


def start_child(path: Path, max_schedules: int) -> int:
    """Fork a process that begins or continues the run; return its number."""
    child = os.fork()
    if child:
        return child
    try:
        search_in_file(path, config=make_quick_config(max_schedules))
    finally:
        os._exit(0)


def look(path: Path, before: dict[str, float]) -> dict[str, float]:
    """Read the run as it was left, and check that nothing was lost since the last time."""
    try:
        run = read_run(path)
    except RunFileError as error:
        if before["episodes"] or not any(words in str(error) for words in ("holds no run yet", "There is no run file")):
            raise
        return before
    [search] = run.searches
    last = search.history[-1] if search.history else None
    now = {
        "episodes": last.n_episodes if last else 0,
        "improvements": len(search.improvements),
        "rounds": last.n_rounds if last else 0,
        "died": before["died"] + (run.status == "died"),
    }
    for name in ("episodes", "improvements", "rounds"):
        assert now[name] >= before[name], f"{name} fell from {before[name]} to {now[name]}"
    return now


def main() -> None:
    path, n_kills, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    chance = random.Random(seed)
    compile_kernels()
    search_in_file(path.with_name("warm.spl"), config=make_quick_config(1))  # loads what is loaded late
    seen = {"episodes": 0, "improvements": 0, "rounds": 0, "died": 0}
    n_done = 0
    for _ in range(n_kills):
        child = start_child(path, max_schedules=10**6)
        time.sleep(chance.uniform(0.0, LONGEST_SECONDS))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        n_done += os.WIFSIGNALED(status)
        seen = look(path, seen)
    print(json.dumps(seen | {"kills": n_done}))


if __name__ == "__main__":
    main()
