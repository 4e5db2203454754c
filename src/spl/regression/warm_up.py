"""Getting the kernels ready before the clock starts, with a message if that takes long."""

import functools
from collections.abc import Callable


def compile_once(say: Callable[[str], None]) -> None:
    """Compile the kernels if they never were, with a message, so that the search does not have to wait for them."""
    from spl.kernels.runtime.compiler import kernels_are_compiled

    if kernels_are_compiled():
        return
    say("Compiling the kernels (once per installation, about half a minute) ...")
    warm_up()


@functools.cache
def warm_up() -> None:
    """Run a small search from end to end, once per process: it loads what the first search would otherwise wait for."""
    from spl.data.dataset import Dataset
    from spl.formulas.grammar import Grammar
    from spl.regression.discover import discover
    from spl.regression.request import RegressionRequest
    from spl.settings import Limits, SearchConfig

    line = Dataset.from_arrays([[1.0], [2.0], [4.0]], [1.5, 2.5, 5.5], names=["x"])
    grammar = Grammar.from_text("f -> f + f | C * f | x")
    config, limits = SearchConfig(n_trees=1, n_episodes=10), Limits(max_evaluations=10)
    discover(RegressionRequest(line, grammar, config=config, limits=limits))
