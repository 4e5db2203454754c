"""gplearn, the genetic programming that the paper compares with: its settings, its run, its answer as one of our programs.

gplearn protects its functions: where an argument is within 0.001 of 0, a quotient is 1 and a logarithm is 0; roots and logarithms
take absolute values. Programs print as plain quotients, so gplearn is judged by its own predictions.
"""

import importlib.metadata
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spl.errors import SettingError, SplError, suggest_name
from spl.formulas.operators import SPELLINGS
from spl.formulas.program import Program, Vocabulary
from spl.formulas.text import make_token, number_literals
from spl.kernels.programs import tokens as tk

if TYPE_CHECKING:
    from gplearn.genetic import SymbolicRegressor

NO_GPLEARN = 'gplearn is not installed. To compare with it: pip install "symbolic-physics-learner[bench]"'
MAX_GPLEARN_EXPONENT = 100.0  # gplearn has no exponential; the one we add stays finite

# Each of gplearn's functions in our tokens. Both are prefix sequences, so each can be replaced in place.
_TOKENS: dict[str, tuple[int, ...]] = {
    "add": (tk.ADD,),
    "sub": (tk.SUB,),
    "mul": (tk.MUL,),
    "div": (tk.DIV,),
    "sqrt": (tk.SQRT, tk.ABS),
    "log": (tk.LOG, tk.ABS),
    "abs": (tk.ABS,),
    "neg": (tk.NEG,),
    "inv": (tk.INV,),
    "max": (tk.MAX,),
    "min": (tk.MIN,),
    "sin": (tk.SIN,),
    "cos": (tk.COS,),
    "tan": (tk.TAN,),
    "exp": (tk.EXP,),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class GplearnConfig:
    """The settings of gplearn that the paper states; all others are gplearn's defaults."""

    operators: tuple[str, ...] = ("+", "-", "*", "/")
    const_range: tuple[float, float] | None = (-10.0, 10.0)  # of the numbers it draws; None for no numbers
    population_size: int = 2000
    max_generations: int | None = 20  # None continues until the time limit

    def __post_init__(self) -> None:
        for name in self.operators:
            word = SPELLINGS.get(name, name)
            if word not in _TOKENS:
                raise SettingError(f"gplearn has no operator '{name}'.{suggest_name(word, _TOKENS)}")

    def to_dict(self) -> dict[str, object]:
        """Return the settings by name, and the version of gplearn."""
        settings = {field.name: getattr(self, field.name) for field in fields(self)}
        return settings | {"gplearn": importlib.metadata.version("gplearn")}


@dataclass(frozen=True, slots=True, kw_only=True)
class GplearnFit:
    """The result of a run of gplearn."""

    program: Program
    predict: Callable[[NDArray[np.float64]], NDArray[np.float64]]  # of rows [N, D], by gplearn itself
    n_evaluations: int
    stopped: str  # "exact", "generations" or "timeout"


def require_gplearn() -> None:
    """Raise a clear error if gplearn is not installed."""
    try:
        import gplearn.genetic  # noqa: F401
    except ImportError:
        raise SplError(NO_GPLEARN) from None


def fit_gplearn(
    table: NDArray[np.float64],
    target: NDArray[np.float64],
    *,
    names: Sequence[str],
    config: GplearnConfig,
    seed: int,
    timeout: float | None = None,
) -> GplearnFit:
    """Evolve programs for rows [N, D], one generation after another, on one core.

    gplearn has no time limit, so a generation starts only if it would end in time, taking as long as the previous one. The first
    one always runs.
    """
    if config.max_generations is None and timeout is None:
        raise SettingError("gplearn needs a limit. Set `max_generations` or a time limit.")
    require_gplearn()
    model = _make_model(config, seed)
    began = time.perf_counter()
    stopped = ""
    with np.errstate(all="ignore"):  # gplearn's programs often overflow
        while not stopped:
            generation_began = time.perf_counter()
            model.set_params(generations=model.generations + 1)
            model.fit(table, target)
            now = time.perf_counter()
            is_late = timeout is not None and now - began + (now - generation_began) > timeout
            stopped = _reason_to_stop(model, config, is_late=is_late)

    def predict(rows: NDArray[np.float64]) -> NDArray[np.float64]:
        with np.errstate(all="ignore"):
            return np.asarray(model.predict(rows), dtype=np.float64)

    return GplearnFit(
        program=to_program(model._program.program, names),
        predict=predict,
        n_evaluations=model.generations * config.population_size,
        stopped=stopped,
    )


def _make_model(config: GplearnConfig, seed: int) -> "SymbolicRegressor":
    """Return the model before its first generation. Continuing it gives the same result as a single run."""
    from gplearn.functions import make_function
    from gplearn.genetic import SymbolicRegressor

    words = [SPELLINGS.get(name, name) for name in config.operators]
    exponential = make_function(function=_bounded_exp, name="exp", arity=1)
    return SymbolicRegressor(
        population_size=config.population_size,
        generations=0,
        function_set=[exponential if word == "exp" else word for word in words],
        const_range=config.const_range,
        warm_start=True,
        low_memory=True,  # drops generations that are no longer needed; changes no result
        random_state=seed,
    )


def _bounded_exp(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.exp(np.minimum(values, MAX_GPLEARN_EXPONENT))


def _reason_to_stop(model: "SymbolicRegressor", config: GplearnConfig, *, is_late: bool) -> str:
    if model.run_details_["best_fitness"][-1] <= model.stopping_criteria:
        return "exact"
    if config.max_generations is not None and model.generations >= config.max_generations:
        return "generations"
    return "timeout" if is_late else ""


def to_program(nodes: Sequence[Any], names: Sequence[str]) -> Program:
    """Return gplearn's flat program (functions, indices of variables, numbers) as one of ours, with unprotected quotients.

    Examples:
        >>> from spl.formulas.text import to_text
        >>> to_text(to_program([2.5], ["x"]))
        '2.5'
    """
    literals: list[float] = []
    literal = number_literals(literals)
    tokens: list[int] = []
    for node in nodes:
        if isinstance(node, int | np.integer):
            tokens.append(make_token(tk.VARIABLE, int(node)))
        elif isinstance(node, float | np.floating):
            tokens.append(literal(float(node)))
        else:
            tokens += _TOKENS[node.name]
    return Program(tuple(tokens), Vocabulary(tuple(names), tuple(literals)))
