"""Getting the kernels ready before a clock starts, and saying so when it takes long."""

import functools
from collections.abc import Callable


def compile_once(say: Callable[[str], None]) -> None:
    """Compile the kernels if this was never done, so that it neither surprises nor counts as time of the search."""
    from spl.kernels.runtime.compiler import kernels_are_compiled

    if kernels_are_compiled():
        return
    say("Compiling the kernels (once per installation, about half a minute) ...")
    warm_up()


@functools.cache
def warm_up() -> None:
    """Run a small search from end to end: loads, once a process, what a first search would otherwise wait for."""
    from spl.data.dataset import Dataset
    from spl.formulas.grammar import Grammar
    from spl.regression.discover import discover
    from spl.settings import Limits, SearchConfig

    line = Dataset.from_arrays([[1.0], [2.0], [4.0]], [1.5, 2.5, 5.5], names=["x"])
    config = SearchConfig(n_trees=1, n_episodes=10)
    discover(line, Grammar.from_text("f -> f + f | C * f | x"), config=config, limits=Limits(max_evaluations=10))
