"""Checks of the parameters that `SPLRegressor` and `SPLDynamics` share, and what they mean."""

from collections.abc import Sequence
from numbers import Integral
from pathlib import Path

from joblib import effective_n_jobs

from spl.errors import SettingError, show_value
from spl.estimators.fitted_units import allows_any
from spl.formulas.grammar import Grammar
from spl.formulas.grammar_text import read_text_or_file
from spl.formulas.operators import Operator
from spl.knowledge.knowledge import Knowledge
from spl.settings import SearchConfig, check_switch


def check_run_file(path: object) -> None:
    """Raise a clear error unless the value names a file, or is None."""
    if path is not None and (not isinstance(path, str | Path) or not str(path) or "\0" in str(path)):
        raise SettingError(f"`run_file` must be the path of a file, or None; got {show_value(path)}.")


def count_jobs(n_jobs: int | None) -> int:
    """Return how many trees grow at once, counted as joblib does: None is what joblib's context says, usually 1."""
    if n_jobs is None:
        return int(effective_n_jobs(None))
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise SettingError(f"`n_jobs` must be 1 or more, or -1 for all processors; got {show_value(n_jobs)}.")
    return int(effective_n_jobs(int(n_jobs)))


def check_operators(operators: object, constants: object) -> None:
    """Raise a clear error unless operators are a list, and constants are allowed or not."""
    if not isinstance(operators, Sequence) or isinstance(operators, str):
        raise SettingError(f"`operators` must be a list, such as ['+', '*', 'sin']; got {show_value(operators)}.")
    if not allows_any(constants):
        check_switch("constants", constants)


def make_grammar(
    given: Grammar | str | Path | None, operators: Sequence[str | Operator], constants: bool | str, names: Sequence[str]
) -> Grammar:
    """Return the given grammar, or one made of the operators and the names of the columns."""
    check_operators(operators, constants)
    own = tuple(operator for operator in operators if isinstance(operator, Operator))
    if given is None:
        return Grammar.from_operators(operators, names, constants=bool(constants))
    if isinstance(given, Grammar):
        return given
    if isinstance(given, Path):
        return Grammar.from_file(given, own, names)
    if isinstance(given, str):
        return read_text_or_file(given, own, names)
    raise SettingError(f"`grammar` must be a Grammar, its text or the path of a file; got {show_value(given)}.")


def check_search(given: object) -> SearchConfig:
    """Return the given settings of the search, or the default for None."""
    if given is None:
        return SearchConfig()
    if not isinstance(given, SearchConfig):
        raise SettingError(f"`search` must be a SearchConfig or None; got {show_value(given)}.")
    return given


def read_knowledge(given: object, bounds: object, names: Sequence[str], target: str) -> Knowledge | None:
    """Return what is known of the law about these columns; None for nothing."""
    knowledge = Knowledge.read(() if given is None else given, names, target, bounds)
    return knowledge if knowledge.statements else None
