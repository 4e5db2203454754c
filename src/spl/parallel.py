"""Several pieces of work at once: threads of this machine, or whatever joblib backend the caller has chosen."""

from collections.abc import Callable, Sequence
from typing import Any


def run_all(tasks: Sequence[Callable[[], Any]], n_jobs: int) -> list[Any]:
    """Run all tasks and return their results in order. One job runs them here, one after the other."""
    if n_jobs == 1 or len(tasks) <= 1:
        return [task() for task in tasks]
    from joblib import Parallel, delayed

    return list(Parallel(n_jobs=min(n_jobs, len(tasks)), require="sharedmem")(delayed(task)() for task in tasks))
