"""The rows that the formulas of a stored run were fitted to."""

from spl.data.dataset import Dataset
from spl.errors import RunFileError
from spl.formulas.json_codec import check_no_stand_ins
from spl.noise.models import check_noise, decode_noise
from spl.regression.fit_rows import FitRows
from spl.runs.reader import StoredRun

OWN_FUNCTIONS = (
    "Nothing can be said about how sure the formula is: the run uses operators or a loss of your own, and its file does not hold "
    "their functions."
)


def fit_rows_of(run: StoredRun) -> FitRows | None:
    """Return what the front of a table was fitted to; None if it cannot be told.

    That is so for a system, before there is a formula, and if formulas or noise need functions of the user: a file does not hold them.
    """
    search = run.searches[0]
    if not isinstance(run.data, Dataset) or search.discovery is None or not len(search.front):
        return None
    try:
        check_no_stand_ins(search.grammar)
        noise = check_noise(decode_noise(run.settings.get("noise", "normal")))
    except RunFileError:
        return None
    return FitRows.of(run.data, search.discovery.noise, noise, tuple(search.grammar.vocabulary.literals), run.units)
