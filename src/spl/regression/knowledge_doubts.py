"""What people should know about the statements they gave: which one excluded every formula, and what the statements cost."""

from spl.data.dataset import Dataset
from spl.errors import count_noun
from spl.formulas.text import to_text
from spl.regression.candidate import Candidate
from spl.regression.description_length import description_length
from spl.regression.fit import fit
from spl.regression.known_fit import KnownFit
from spl.regression.tidy_front import tidy_candidate

CONTRADICTED_NATS = (
    10.0  # by which a formula that breaks a statement must describe the data more briefly, to be mentioned
)
FREER_SHARE = 1e-3  # by which the loss must fall without the statements, to say that they hold numbers
NOTE_DIGITS = 4  # of the numbers of a formula in a note


def explain_exclusion(known: KnownFit) -> str:
    """Return which statement excluded the most formulas, if no formula keeps all; nothing if there are no statements."""
    if known.judge is None or not known.n_excluded:
        return ""
    statements = known.judge.knowledge.texts
    [(worst, n_worst), *_] = known.n_excluded.most_common(1)
    counts = [f"'{statements[place]}' {n:,}" for place, n in known.n_excluded.most_common(4)[1:]]
    others = f" (then {', '.join(counts)})" if counts else ""
    return (
        f"No formula that was tried satisfies all statements. '{statements[worst]}' excluded the most: {n_worst:,} of "
        f"{count_noun(known.n_judged, 'formula')}{others}. Check these statements and the range in which they hold, or allow other "
        "operators or more time."
    )


def find_cost_of_knowledge(chosen: Candidate, known: KnownFit, rows: Dataset, floor: float) -> list[str]:
    """Return notes: that a formula which breaks a statement describes the data much better, and that statements hold numbers."""
    if known.judge is None:
        return []
    notes = []
    price = description_length(chosen, rows.n_rows, floor)
    others = [fit(each.program, rows) for each in known.excluded]
    best = min(others, key=lambda each: description_length(each, rows.n_rows, floor), default=None)
    if best is not None and description_length(best, rows.n_rows, floor) < price - CONTRADICTED_NATS:
        broken = known.judge.find_broken(best.program)
        if broken is not None:
            difference = price - description_length(best, rows.n_rows, floor)
            formula = to_text(tidy_candidate(best, rows).program, NOTE_DIGITS)
            notes.append(
                f"A formula that breaks '{known.judge.knowledge.texts[broken]}' describes the data more briefly, by "
                f"{difference:.0f} nats: {formula}. If it may be right, check the statement."
            )
    free = fit(chosen.program, rows)
    if free.loss < (1 - FREER_SHARE) * chosen.loss and not known.keeps(free.program):
        notes.append(
            f"The statements hold the numbers of the formula: without them, its loss would be {free.loss:.4g} instead of "
            f"{chosen.loss:.4g}. Standard errors and intervals do not take this into account."
        )
    return notes
