"""The noise model of a law with numbers of groups: when the search ends, the models are compared on its best formula."""

from dataclasses import dataclass, replace

import numpy as np

from spl.data.dataset import Dataset
from spl.groups.fit import JointFit, fit_jointly
from spl.groups.rows import GroupedRows
from spl.groups.sharing import length_of
from spl.noise.models import AUTO, NORMAL, STUDENT, NoiseModel
from spl.regression.noise_choice import (
    MARGIN_NATS,
    PLAIN_NOISE,
    Description,
    NoiseChoice,
    explain_choice,
    note_of_error_bars,
    price,
    rival_models,
)
from spl.regression.outliers import find_outliers


@dataclass(frozen=True, slots=True, eq=False)
class NoiseDecision:
    """The fits of a front by the noise model that describes the data best."""

    fits: list[JointFit]
    rows: GroupedRows  # with that noise model
    choice: NoiseChoice
    outliers: tuple[int, ...] = ()  # among the rows
    notes: tuple[str, ...] = ()


def decide_noise(fits: list[JointFit], rows: GroupedRows, asked: NoiseModel | str) -> NoiseDecision:
    """Return the fits by the noise model that was asked for, or with "auto" by the one with the shortest description."""
    best = min(fits, key=lambda fit: length_of(fit, rows))
    is_auto = asked == AUTO
    if not is_auto and rows.data.noise is None:
        return NoiseDecision(fits, rows, PLAIN_NOISE)
    model = rows.data.noise or NORMAL
    compared = [_describe(best, rows, model)]
    if is_auto and best.loss > rows.data.floor:
        found = (_refit(best, rows, rival) for rival in rival_models(rows.data))
        compared += [_describe(fit, _with_noise(rows, rival), rival) for fit, rival in found if fit is not None]
    shortest = min(compared, key=lambda each: each.nats)
    if is_auto and shortest.noise is not model and shortest.nats + MARGIN_NATS < compared[0].nats:
        model, rows = shortest.noise, _with_noise(rows, shortest.noise)
        refitted = (fit_jointly(fit.formula, rows) for fit in fits)
        fits = [fit for fit in refitted if fit is not None]
        best = min(fits, key=lambda fit: length_of(fit, rows))
    extended = _extend(best, rows)
    choice = explain_choice(best.candidate(rows), model, extended, compared, is_auto)
    note = note_of_error_bars(choice, rows.data.n_rows) if model is NORMAL else ""
    outliers = find_outliers(best.formula.program, extended) if model is STUDENT else ()
    return NoiseDecision(fits, rows, choice, tuple(outliers), (note,) if note else ())


def _refit(fit: JointFit, rows: GroupedRows, model: NoiseModel) -> tuple[JointFit | None, NoiseModel]:
    return fit_jointly(fit.formula, _with_noise(rows, model)), model


def _with_noise(rows: GroupedRows, model: NoiseModel) -> GroupedRows:
    return rows.with_data(replace(rows.data, noise=model))


def _extend(fit: JointFit, rows: GroupedRows) -> Dataset:
    formula = fit.formula
    values = tuple(np.where(np.isfinite(each), each, 0.0) for each in formula.values)
    return rows.extend(formula.scopes, values, formula.program.vocabulary.variables[formula.n_columns :])


def _describe(fit: JointFit, rows: GroupedRows, model: NoiseModel) -> Description:
    return price(fit.candidate(rows), model, _extend(fit, rows))
