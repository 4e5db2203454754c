"""Getting the kernels ready before the clock of a search starts: in parallel, with a message, once per installation."""

import contextlib
import functools
import itertools
import math
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator

import numpy as np

from spl.data.dataset import Dataset
from spl.formulas.grammar import Grammar
from spl.formulas.program import Program
from spl.formulas.text import CONSTANT_TOKEN
from spl.garbage_collection import without_garbage_collection
from spl.kernels.runtime import store
from spl.kernels.runtime.building import are_all_stored, build, note_that_all_are_stored, watching
from spl.regression.fit import fit
from spl.regression.memory_budget import MIN_KEYS, MIN_NODES, MemoryPlan
from spl.regression.trees import Recipe
from spl.settings import SearchConfig

MAX_HELPERS = 7  # processes that compile beside this one
N_KERNELS = 78  # roughly how many a search needs
COMPILER_SECONDS = 30.0  # for all of them on one core
START_SECONDS = 2.0  # for imports

_started: list[subprocess.Popen[bytes]] = []


@functools.cache
def compile_kernels() -> None:
    """Compile the kernels, or load them from the store, by a search that ends at once."""
    if are_all_stored():
        _run_briefly()
        return
    with helpers(), without_garbage_collection():
        _run_briefly()
    note_that_all_are_stored()
    store.prune()


def count_helpers() -> int:
    """Return how many other processes may compile: one for each other core."""
    import joblib  # slow to import

    return min(int(joblib.cpu_count()) - 1, MAX_HELPERS)


@contextlib.contextmanager
def helpers() -> Iterator[None]:
    """Let other processes compile kernels at the same time. Inside another `helpers` nothing more is started."""
    started = [] if _started else start_helpers()
    _started.extend(started)
    try:
        yield
    finally:
        for helper in started:
            helper.terminate()
            helper.wait()
            _started.remove(helper)


def start_helpers() -> list[subprocess.Popen[bytes]]:
    """Start processes that compile kernels, as many as there are other cores."""
    started = []
    code = f"from {__name__} import help_compiling; help_compiling()"
    for _ in range(count_helpers()):
        with contextlib.suppress(OSError):  # then this process compiles everything
            none = subprocess.DEVNULL
            started.append(subprocess.Popen([sys.executable, "-P", "-c", code], stdin=none, stdout=none, stderr=none))
    return started


def help_compiling() -> None:
    """Compile the kernels of the tree search, as far as no other process has done it."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # so that claims are given back
    recipe = _small_recipe(n_completions=0)
    with without_garbage_collection():
        searcher = recipe.make_searcher(0, recipe.make_completion())
        build([searcher.unit()], from_end=True)


def _run_briefly() -> None:
    """Use every kernel that a search needs."""
    recipe = _small_recipe()
    recipe.make_searcher(0, recipe.make_completion()).grow(1, 1, lambda: False)
    fit(Program((CONSTANT_TOKEN,), recipe.grammar.vocabulary, (1.0,)), recipe.sample)


def _small_recipe(n_completions: int = 1) -> Recipe:
    x = np.arange(1.0, 9.0)
    sample = Dataset.from_arrays(x[:, np.newaxis], x * x, names=["x"])
    grammar = Grammar.from_text("f -> f + f | f * f | C * f | x").bind(["x"])
    config = SearchConfig(max_rules=4, n_episodes=2, n_trees=1, n_completions=n_completions)
    return Recipe(grammar, sample, config, MemoryPlan(1000, MIN_KEYS, MIN_NODES))


def compile_once(watch: Callable[[int], None], look: Callable[[], None] | None = None) -> None:
    """Compile the kernels if they never were.

    Args:
        watch: is told the number of kernels that are ready, each time that it changes.
        look: what can be done with the first kernels, such as a first look at the data.
    """
    if are_all_stored():
        return
    counter = itertools.count(1)
    with helpers(), watching(lambda: watch(next(counter))), without_garbage_collection():
        if look is not None:
            look()
        compile_kernels()


def estimate_seconds() -> int:
    """Return about how long all of it takes, in steps of 5 s."""
    return 5 * math.ceil((COMPILER_SECONDS / (1 + count_helpers()) + START_SECONDS) / 5)


@functools.cache
def warm_up() -> None:
    """Run a small search from end to end, once per process: it loads what the first search would otherwise wait for."""
    from spl.regression.discover import discover
    from spl.regression.request import RegressionRequest
    from spl.settings import Limits

    line = Dataset.from_arrays([[1.0], [2.0], [4.0]], [1.5, 2.5, 5.5], names=["x"])
    grammar = Grammar.from_text("f -> f + f | C * f | x")
    config, limits = SearchConfig(n_trees=1, n_episodes=10), Limits(max_evaluations=10)
    discover(RegressionRequest(line, grammar, config=config, limits=limits))
