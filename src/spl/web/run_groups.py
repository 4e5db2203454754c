"""The groups of a table for a page: the numbers of each group in a formula, and a picture of each group."""

from typing import Any

from spl.data.dataset import Dataset
from spl.groups.own_rows import errors_of_groups, know_numbers_of, own_of
from spl.report.groups import gather_groups
from spl.report.groups_section import OWN_WORDS, draw_pictures, picture_words
from spl.runs.reader import StoredRun
from spl.web.run_fits import find_candidate


def describe_groups(run: StoredRun, cost: int) -> dict[str, Any]:
    """Return tables of own numbers and pictures of groups for the formula of this cost; nothing to show if it has no own numbers."""
    candidate = find_candidate(run, 0, cost)
    own = own_of(candidate)
    if not own or not isinstance(run.data, Dataset):
        return {"cost": cost, "tables": [], "pictures": [], "words": "", "about_pictures": ""}
    errors = errors_of_groups(know_numbers_of(candidate, run.data, run.groupings))
    part = gather_groups(candidate.program, own, run.groupings, run.data, target=run.searches[0].name, errors=errors)
    return {
        "cost": cost,
        "words": OWN_WORDS,
        "tables": [
            {"grouping": table.grouping, "names": list(table.names), "rows": [list(row) for row in table.rows]}
            for table in part.tables
        ],
        "grouping": part.grouping,
        "about_pictures": picture_words(part),
        "pictures": [
            {"label": picture.label, "chart": drawing}
            for picture, drawing in zip(part.pictures, draw_pictures(part), strict=True)
        ],
    }
