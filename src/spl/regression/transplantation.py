"""Module transplantation: which complete trees become rules of the next round, and how large they may be."""

from collections.abc import Iterable

from spl.kernels.programs.prices import EQUAL_LOSS_SHARE
from spl.regression.candidate import Module
from spl.settings import SearchConfig


def module_size(config: SearchConfig, round_number: int) -> int:
    """Return the most rules of a module in a round (0 is the first): from the baseline to max_rules in equal steps.

    Examples:
        >>> [module_size(SearchConfig(n_transplants=5, max_rules=50, module_size=10), k) for k in range(5)]
        [10, 20, 30, 40, 50]
    """
    if config.n_transplants == 1:
        return config.module_size
    step = (config.max_rules - config.module_size) / (config.n_transplants - 1)
    return int(config.module_size + step * round_number)


def keep_best(modules: Iterable[Module], n_kept: int) -> tuple[Module, ...]:
    """Return the modules with the highest rewards, the best first; of two equal in value only the better. Ties keep their order."""
    kept: list[Module] = []
    for module in sorted(modules, key=lambda m: -m.reward):
        if len(kept) == n_kept:
            break
        if all(abs(module.loss - other.loss) > EQUAL_LOSS_SHARE * other.loss for other in kept):
            kept.append(module)
    return tuple(kept)
