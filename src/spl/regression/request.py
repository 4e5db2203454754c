"""The request: what a search is asked for. Everyone who starts one, in Python or from a command, fills in this record."""

from dataclasses import KW_ONLY, dataclass, field

from spl.data.dataset import Dataset
from spl.data.hold_out import check_held_out
from spl.errors import DataError
from spl.formulas.grammar import Grammar
from spl.noise.models import BINOMIAL, NORMAL, POISSON, NoiseModel, check_targets
from spl.settings import Limits, SearchConfig


@dataclass(frozen=True, slots=True, eq=False)
class RegressionRequest:
    """The data, the formulas to choose from, and how to search. Raises `GrammarError` if the grammar needs other columns.

    Args:
        data: the table and its target.
        grammar: all formulas that are possible; it is bound to the columns of the data.
        target: the name of the target, for run files and people.
        config: how the search works.
        limits: when it ends at the latest.
        n_jobs: how many trees grow at once; the answer does not depend on it.
        seed: of the random choices; the same seed and settings give the same answer, unless the time limit cuts the search off.
        noise: the noise model of the target, or "auto" for the one that describes it best.
        target_error: how far the target itself may be off; a formula that is off by no more is exact.
        held_out: rows that the search never sees, on which its formulas are compared; None if there are none.
        keeps_rivals: whether to collect formulas that the data cannot tell from the best one, when the search ends.

    Examples:
        >>> data = Dataset.from_arrays([[1.0], [2.0]], [3.0, 6.0], names=["x"])
        >>> RegressionRequest(data, Grammar.from_text("f -> f + f | x"), seed=1).seed
        1
    """

    data: Dataset
    grammar: Grammar
    _: KW_ONLY
    target: str = "y"
    config: SearchConfig = field(default_factory=SearchConfig)
    limits: Limits = field(default_factory=Limits)
    n_jobs: int = 1
    seed: int = 0
    noise: NoiseModel | str = NORMAL
    target_error: float = 0.0
    held_out: Dataset | None = None
    keeps_rivals: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "grammar", self.grammar.bind(self.data.names))
        check_noise_suits(self.noise, self.data)
        if self.held_out is not None:
            check_held_out(self.held_out, self.data.names)
            try:
                check_noise_suits(self.noise, self.held_out)
            except DataError as error:
                raise DataError(f"The validation rows do not suit the noise model. {error}") from None


def check_noise_suits(noise: NoiseModel | str, data: Dataset) -> None:
    """Raise a clear error if a noise model cannot have produced the target, or cannot use the error bars; "auto" suits all data."""
    if not isinstance(noise, NoiseModel):
        return
    has_bars = data.sigma is not None or data.sigma_columns is not None
    if noise is NORMAL and not has_bars:
        return
    check_targets(noise, data.target, "row {}".format if data.places is None else data.places.name)
    if noise in (POISSON, BINOMIAL) and has_bars:
        raise DataError(
            f"The noise model '{noise.name}' itself says how far the target scatters. Leave out the error bars, or choose another one."
        )
    if noise.loss is not None and data.sigma_columns is not None:
        raise DataError(
            f"The loss '{noise.name}' cannot use error bars of columns. Leave them out, or choose a noise model such as 'normal'."
        )
