"""Charts of a run in progress, in the style of the report."""

import numpy as np

from spl.display.results import SHOWN_DIGITS
from spl.formulas.text import to_text
from spl.report.charts import FrontPoint, Series, draw_front, draw_series
from spl.runs.reader import StoredSearch

MAX_MOMENTS = 400  # of a learning curve


def draw_whole_front(search: StoredSearch, left: str, chosen: int, floor: float) -> str:
    """Return the chart of a front; each point is a radio button identified by its cost."""
    points = [
        FrontPoint(
            candidate.cost,
            candidate.loss,
            f"cost {candidate.cost}, loss {candidate.loss:.3g}: {left} = {to_text(candidate.program, SHOWN_DIGITS)}",
            str(candidate.cost),
        )
        for candidate in search.front
    ]
    return draw_front(points, chosen, floor=floor, loss_label="loss")


def draw_learning(search: StoredSearch, floor: float) -> str:
    """Return the chart of the lowest loss over time; empty if there is no history yet."""
    moments = [moment for moment in search.history if np.isfinite(moment.loss)]
    if not moments:
        return ""
    kept = sorted({*range(0, len(moments), max(1, len(moments) // MAX_MOMENTS)), len(moments) - 1})
    seconds = np.array([moments[k].seconds for k in kept])
    losses = np.maximum([moments[k].loss for k in kept], max(floor, 1e-300))
    steps = Series(np.repeat(seconds, 2)[1:], np.repeat(losses, 2)[:-1], "found", is_line=True)
    label = f"The lowest loss fell from {losses[0]:.3g} to {losses[-1]:.3g} in {seconds[-1]:.1f} seconds."
    return draw_series([steps], label=label, x_label="seconds", y_label="lowest loss", is_log=True)
