"""What the formulas of a front were fitted to: every question about their certainty begins with it."""

from dataclasses import dataclass

from spl.data.dataset import Dataset
from spl.noise.models import NoiseModel
from spl.regression.noise_choice import NoiseChoice
from spl.regression.uncertainty import rows_of_fit
from spl.units.table_units import TableUnits


@dataclass(frozen=True, slots=True, eq=False)
class FitRows:
    """The rows that the formulas of a front were fitted to, and the numbers that were not fitted.

    Examples:
        >>> data = Dataset.from_arrays([[1.0], [2.0], [3.0]], [2.0, 4.0, 6.0], weights=[1, 0, 1])
        >>> FitRows.of(data, NoiseChoice("normal"), "normal").rows.n_rows
        2
    """

    rows: Dataset  # with their noise model; all count
    given: tuple[float, ...] = ()  # numbers of the grammar: these are exact
    units: TableUnits | None = None  # of the columns and the target

    @property
    def measured_names(self) -> tuple[str, ...]:
        """The names of the columns without those of named constants."""
        return self.rows.names if self.units is None else self.units.measured_names

    @classmethod
    def of(
        cls,
        data: Dataset,
        choice: NoiseChoice,
        asked: NoiseModel | str,
        given: tuple[float, ...] = (),
        units: TableUnits | None = None,
    ) -> "FitRows":
        """Take the rows that count.

        Args:
            data: all rows.
            choice: the noise model of the answer.
            asked: the noise model that was asked for, or "auto".
            given: numbers of the grammar.
            units: of the columns and the target; None if they play no part.
        """
        return cls(rows_of_fit(data, choice, asked), tuple(given), units)
