"""The views of a search: the first one, others when the errors of its formulas ask for another noise model, and which one leads.

A search begins with one view. If its errors look as if another noise model had made them, a view with the weights of that model is
opened beside it, and the two share the time. A view starts again if its best formula gives the rows other weights, or if its errors
depend on columns of a wide table that it does not have. All decisions are made after batches of episodes and never by the clock, so
that a run can be repeated.
"""

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from spl.formulas.text import make_token
from spl.kernels.programs import tokens as tk
from spl.noise.models import AUTO, NORMAL, POISSON, NoiseModel, find_noise_model
from spl.regression.candidate import Candidate
from spl.regression.column_screening import MAX_PROMISING, ask_residual
from spl.regression.column_view import ColumnView
from spl.regression.description_length import description_length
from spl.regression.fit import evaluate, find_scatter, fit
from spl.regression.front import Front
from spl.regression.noise_choice import MARGIN_NATS, Description, best_description, describe, rival_models
from spl.regression.setup import (
    SearchSetup,
    guess_weights,
    make_yardstick,
    open_first_view,
    open_view,
    plant,
    scaled_weights,
    with_named_constants,
)
from spl.regression.view import Planting, View, Yardstick

# A wrong formula has errors of all kinds, and noise models that differ little hardly change a search. So while the law is probably
# unknown, another model must describe the data more briefly by this many nats per row, and by more before EARLY_EPISODES of each tree.
# On six laws, gross outliers give 0.8 to 2.4, relative errors over decades 1.7 to 2.7, counts 0.5 to 0.8; on exact random formulas
# that are not found yet, relative errors seem to give up to 0.5, outliers up to 0.6. WEAK_NATS are enough after LATE_EPISODES, if the
# choice has not changed in the last half of them.
STRONG_NATS, STRONG_COUNTS_NATS = 0.75, 0.25
WEAK_NATS = 0.2
EARLY_EPISODES, LATE_EPISODES = 250, 750
FIRST_COMPARISON = 50  # episodes of each tree before the first comparison
TRIAL_EPISODES = 100  # of each tree of another view: fewer say little about it
TINY_NOISE = 1e-3  # of the spread of the target: with a smaller error, the weights of rows hardly matter
N_COMPARED = 4  # formulas of the front by which noise models are compared
BEHIND_NATS = 10.0  # a view whose description is longer by more than this hardly ever leads again
FAR_BEHIND_NATS = 0.25  # per row: a first view this far behind hardly ever leads again
BEHIND_SHARE, FAR_BEHIND_SHARE = 0.25, 0.05  # of the leader's episodes that other views get
SAME_WEIGHTS = 0.85  # weights that overlap at least so much are not worth a new start ...
BLURRED = (
    1.5  # ... unless the squared error is this many times what the new ones give: outliers still hide the other rows
)


@dataclass(slots=True, eq=False)
class Views:
    """All views of a search; the first is always that of the noise model it began with."""

    setup: SearchSetup
    opened: list[View]
    lead: View
    descriptions: dict[str, Description] = field(default_factory=dict)  # the best of each view, by its name
    compared: tuple[object, ...] = ()  # when noise models were last compared, and by which formulas

    @classmethod
    def begin(cls, setup: SearchSetup) -> "Views":
        """Return the views at the beginning of a search."""
        first = open_first_view(setup)
        return cls(setup, [first], first)

    def reopen(self, name: str, weights: NDArray[np.float64], columns: ColumnView) -> None:
        """Open a view of a search that is continued."""
        noise = find_noise_model(name)
        self.opened.append(open_view(self.setup, noise, weights, columns, self.first.planting))

    def resume(self, lead: int) -> None:
        """Continue with the views as they were: compare them as before."""
        self.lead = self.opened[lead]
        if len(self.opened) > 1:
            for view in self.opened:
                if view.choice is not None:
                    self.descriptions[view.name] = describe(view.choice, view.yardstick.model, self.setup.check)

    @property
    def first(self) -> View:
        """The view that the search began with."""
        return self.opened[0]

    @property
    def n_episodes(self) -> int:
        """How many episodes all trees ran."""
        return sum(view.all_episodes for view in self.opened)

    @property
    def n_evaluations(self) -> int:
        """How many distinct programs all trees fitted or evaluated."""
        return sum(view.all_evaluations for view in self.opened)

    def next(self) -> View:
        """Return the view whose turn it is."""
        return min(self.opened, key=lambda view: view.all_episodes / self._share(view))

    def _share(self, view: View) -> float:
        """Return how many episodes a view gets for each of the leader's. The first one gets as many, unless it is far behind."""
        behind = self._nats(view) - self._nats(self.lead)
        if view is self.lead or (view is self.first and behind < FAR_BEHIND_NATS * self.setup.check.n_rows):
            return 1.0
        is_hopeless = view is not self.first and behind > BEHIND_NATS and self._was_tried(view)
        return FAR_BEHIND_SHARE if is_hopeless else BEHIND_SHARE

    def _nats(self, view: View) -> float:
        known = self.descriptions.get(view.name)
        return math.inf if known is None else known.nats

    def _was_tried(self, view: View) -> bool:
        return view.all_episodes >= TRIAL_EPISODES * len(view.trees)

    @property
    def are_tried(self) -> bool:
        """Whether every view had time to show what it can do."""
        return all(self._was_tried(view) for view in self.opened)

    def widen(self, view: View) -> None:
        """Let a view that has tried every formula of its columns begin again with all columns."""
        planting, noise = view.planting, view.yardstick.noise
        columns = ColumnView.whole(planting.columns.n_columns)
        self._restart(view, plant(self.setup, noise, planting.weights, columns, planting, view.n_restarts + 1))

    def update(self, view: View) -> None:
        """Take note of what a view has found: others may be opened or take the lead, and its rows may get other weights."""
        choice = view.choice
        if choice is None:
            return
        is_comparing = self.setup.request.noise == AUTO
        if is_comparing and view is self.first and self._may_compare(view, choice):
            self._open_others(view, choice)
        if len(self.opened) > 1:
            known = self.descriptions.get(view.name)
            if known is None or known.candidate.program.tokens != choice.program.tokens:
                self.descriptions[view.name] = describe(choice, view.yardstick.model, self.setup.check)
            self._choose_lead()
        is_early = view.n_episodes < TRIAL_EPISODES * len(view.trees) * 2**view.n_restarts
        if is_early or choice.loss <= view.yardstick.floor:
            return
        weights, columns = self._find_weights(view, choice), self._find_columns(view, choice)
        if weights is not view.planting.weights or columns != view.planting.columns:
            noise = view.yardstick.noise
            self._restart(view, plant(self.setup, noise, weights, columns, view.planting, view.n_restarts + 1))

    def _restart(self, view: View, planting: Planting) -> None:
        view.restart(planting, self.setup.request.grammar.vocabulary)

    def _may_compare(self, first: View, choice: Candidate) -> bool:
        is_early = first.n_episodes < FIRST_COMPARISON * len(first.trees)
        return not is_early and choice.loss > max(TINY_NOISE * first.yardstick.check.spread, first.yardstick.floor)

    def _open_others(self, first: View, choice: Candidate) -> None:
        """Open a view for every other noise model that describes the errors of the best formulas more briefly."""
        candidates = _most_likely(first)
        n_episodes = first.n_episodes / len(first.trees)
        is_settled = n_episodes >= LATE_EPISODES and first.n_episodes >= 2 * first.assessment.episodes_at_choice
        now = (min(n_episodes, LATE_EPISODES), is_settled, *(each.program.tokens for each in candidates))
        if now == self.compared:
            return
        self.compared = now
        normal = best_description(candidates, NORMAL, self.setup.check)
        opened = {view.name for view in self.opened}
        for model in rival_models(self.setup.check):
            if model.name in opened:
                continue
            best = best_description(candidates, model, self.setup.check)
            strong = STRONG_COUNTS_NATS if model is POISSON else STRONG_NATS
            per_row = WEAK_NATS if is_settled else strong * max(EARLY_EPISODES / n_episodes, 1.0)
            margin = MARGIN_NATS + per_row * self.setup.check.n_rows
            is_better = best is not None and (normal is None or best.nats + margin < normal.nats)
            if best is not None and (is_better or self._is_shown_by_repeats(model)):
                weights, planting = guess_weights(self.setup, model, choice), first.planting
                self.opened.append(open_view(self.setup, model, weights, planting.columns, planting))
                self.descriptions[model.name] = best
        if len(self.opened) > 1 and normal is not None:
            self.descriptions[first.name] = normal

    def _is_shown_by_repeats(self, model: NoiseModel) -> bool:
        """Return whether repeated measurements, without any formula, show another noise model than even normal noise."""
        repeats, floor = self.setup.repeats, self.first.yardstick.floor
        return repeats is not None and repeats.nats(model, floor) + MARGIN_NATS < repeats.nats(NORMAL, floor)

    def _choose_lead(self) -> None:
        """Let the view with the shortest description lead; the first one has an advantage."""

        def length(view: View) -> float:
            return self._nats(view) - (MARGIN_NATS if view is self.first else 0.0)

        self.lead = min((view for view in self.opened if len(view.front)), key=length, default=self.first)

    def _find_weights(self, view: View, choice: Candidate) -> NDArray[np.float64]:
        """Return the weights that the best formula of a view gives the rows, or those it has if they hardly differ."""
        before = view.planting.weights
        noise = view.yardstick.model
        if noise is NORMAL:
            return before
        scatter = find_scatter(choice.program, replace(self.setup.drawn, noise=noise))
        if scatter.precisions.size != before.size:
            return before  # the formula has no value on some row of the search
        weights = scaled_weights(scatter.precisions)
        squares = (self.setup.drawn.target - evaluate(choice.program, self.setup.drawn.columns)) ** 2
        is_blurred = float(np.mean(before * squares)) > BLURRED * float(np.mean(weights * squares))
        overlap = float(np.minimum(weights, before).mean())
        return weights if is_blurred or overlap < SAME_WEIGHTS else before

    def _find_columns(self, view: View, choice: Candidate) -> ColumnView:
        """Return the columns of a view, with those that the errors of its best formula depend on."""
        before, screening = view.planting.columns, self.setup.screening
        tokens = choice.program.tokens
        if screening is None or before.is_whole or view.asked == tokens:
            return before
        view.asked = tokens
        rows = self.setup.check
        with np.errstate(all="ignore"):
            residual = rows.target - evaluate(choice.program, rows.columns)
        weights = rows.weights
        if view.yardstick.noise is not None:
            scatter = find_scatter(choice.program, replace(rows, noise=view.yardstick.noise))
            weights = scatter.precisions if scatter.precisions.size == weights.size else weights
        missing = ask_residual(rows, residual, weights, before.columns)
        used = [column for column in before.columns if make_token(tk.VARIABLE, column) in tokens]
        kept = [*used, *missing, *(column for column in before.columns if column not in used)]
        if not missing:
            return before
        asked_for = ColumnView(tuple(kept[: max(MAX_PROMISING, len(used) + 1)]), before.n_columns)
        return with_named_constants(self.setup.request, asked_for)

    def decide(self) -> tuple[Yardstick, Front]:
        """Return the yardstick of the answer, and the front by it: that of the noise model with the shortest description.

        This also compares models for which there was no time to open a view.
        """
        lead = self.lead
        choice = lead.choice
        if self.setup.request.noise != AUTO or choice is None:
            return lead.yardstick, lead.front
        if choice.loss <= lead.yardstick.floor:
            return self._decide_exactly(choice)
        candidates = {each.program.tokens: each for view in self.opened for each in _most_likely(view)}.values()
        models = (NORMAL, *rival_models(self.setup.check))
        found = [best_description(candidates, model, self.setup.check) for model in models]
        best = min(filter(None, found), key=_length_with_margin, default=None)
        view = next((view for view in self.opened if best is None or view.yardstick.model is best.noise), None)
        if best is None or view is not None:
            view = view or lead
            return view.yardstick, self._join_fronts(view.yardstick, view.front)
        yardstick = make_yardstick(self.setup, best.noise)
        return yardstick, self._join_fronts(yardstick, Front(()))

    def _decide_exactly(self, choice: Candidate) -> tuple[Yardstick, Front]:
        """Return the first yardstick if an exact law is exact by it too, else that of the leading view."""
        first, lead = self.first, self.lead
        if lead is first or fit(choice.program, first.yardstick.check).loss > first.yardstick.floor:
            return lead.yardstick, lead.front
        return first.yardstick, self._join_fronts(first.yardstick, first.front)

    def _join_fronts(self, yardstick: Yardstick, own: Front) -> Front:
        """Return a front with what other views found, fitted by the same yardstick."""
        known = {each.program.tokens for each in own}
        others = {each.program.tokens: each for view in self.opened for each in view.front}
        self.setup.known.allow(len(others))
        fitted = [
            self.setup.known.fit(each.program, yardstick.check, reward=each.reward)
            for each in others.values()
            if each.program.tokens not in known
        ]
        joined = Front.from_candidates([*own, *fitted], yardstick.floor, yardstick.data.n_rows) if fitted else own
        return joined if len(joined) else own


def _length_with_margin(description: Description) -> float:
    return description.nats - (MARGIN_NATS if description.noise is NORMAL else 0.0)


def _most_likely(view: View) -> list[Candidate]:
    """Return the formulas of a view with the shortest descriptions."""
    n_rows, floor = view.yardstick.data.n_rows, view.yardstick.floor
    return sorted(view.front, key=lambda each: description_length(each, n_rows, floor))[:N_COMPARED]
