"""How sure a formula or the numbers of a system are, as the report shows it. Pages request it, because it takes time."""

from typing import Any

from spl.data.dataset import Dataset
from spl.errors import SettingError
from spl.report.how_sure import how_sure_of, system_number_rows
from spl.report.how_sure_section import write_how_sure, write_intervals
from spl.runs.reader import StoredRun
from spl.web.run_fits import find_candidate

ONLY_TABLES = "Only formulas of a table have this; a system has the intervals of its numbers."


def describe_how_sure(run: StoredRun, cost: int) -> dict[str, Any]:
    """Return how sure the formula with this cost is, as HTML in one element; raise a clear error for a system."""
    if not isinstance(run.data, Dataset):
        raise SettingError(ONLY_TABLES)
    place = list(run.searches[0].front).index(find_candidate(run, 0, cost))
    return {"cost": cost, "markup": f"<div>{write_how_sure(how_sure_of(run, place))}</div>"}


def draw_system_numbers(run: StoredRun) -> str:
    """Return the intervals of the numbers of a system as a figure; empty without a system, or if it has no numbers."""
    numbers = () if run.system is None else system_number_rows(run.system, run.system_units)
    return write_intervals(numbers) if numbers else ""
