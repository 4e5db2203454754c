"""`SPLRegressor`, the scikit-learn interface: it checks input, calls the search and returns the answer. It contains no method.

What needs the kernels is imported inside methods: they take 0.3 s to import, besides the second of scikit-learn.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import Tags, check_random_state

from spl.data.dataset import Dataset, RowPlaces, check_unique
from spl.errors import (
    DoubtfulResult,
    KernelsNotKept,
    RunFileError,
    SearchInterrupted,
)
from spl.estimators.fitted_predictions import FittedPredictions
from spl.estimators.fitted_shapes import FittedShapes
from spl.estimators.fitted_stability import FittedStability
from spl.estimators.fitted_units import add_known, parameters_of_units, read_units
from spl.estimators.inputs import Rows, read_origins
from spl.estimators.known_parts import KnownParts
from spl.estimators.parameters import check_run_file, check_search, count_jobs, read_knowledge
from spl.estimators.stop_flag import request_stop_of, stop_flag
from spl.estimators.validation import set_validation_aside
from spl.formulas.grammar import Grammar
from spl.formulas.grammar_rules import DEFAULT_OPERATORS
from spl.formulas.guesses import check_guesses
from spl.formulas.json_codec import check_no_stand_ins
from spl.formulas.operators import Operator
from spl.noise.models import AUTO, check_noise, decode_noise
from spl.noise.own_loss import Loss
from spl.regression.front import Front, check_has_held_out, check_selection, rule_while_running
from spl.regression.request import RegressionRequest
from spl.settings import TIMEOUT, Limits, SearchConfig, check_verbose

if TYPE_CHECKING:
    from spl.display.progress import ProgressDisplay
    from spl.regression.discover import Discovery, Watcher


class SPLRegressor(KnownParts, FittedPredictions, FittedShapes, FittedStability, RegressorMixin, BaseEstimator):
    """Find the formula behind a table.

    A bank of small programs and least squares complete partial formulas of a grammar, guided by a Monte Carlo tree search.

    Args:
        operators: names (`"+"`, `"sin"`, ...) and `Operator` objects that the law may contain.
        constants: whether the law may contain fitted numbers. With units, these are pure numbers; "any" lets them have units.
        grammar: all formulas that are possible, as a `Grammar`, its text, or the path of a file. Overrides `operators` and
            `constants`.
        form: what is known of the formula, such as `"a(T)*exp(-b(p, T)) + C"`: each hole, a name with the columns that it may use, is
            found, `C` is fitted. `operators` are those of the holes, except for `Operator` objects that the form names. Without
            holes, nothing is searched for: the numbers are fitted as they are.
        guesses: formulas to begin with, such as `["2*x + 1"]`. The search fits their numbers and varies them.
        timeout: time limit of the search in seconds; None for no limit.
        max_evaluations: the most distinct formulas to try; None for no limit.
        selection: which equation of the front `predict` uses: "mdl", "bic", "accurate", "knee", or "validation" if `fit` gets rows
            for that; may be changed after `fit`.
        search: how the search works, a `SearchConfig`: how long formulas may get, when it stops on its own, how many trees grow. The
            default works for most data.
        noise: how the target scatters around the law: "normal" (the same everywhere), "relative" (in proportion to the value),
            "student" (with outliers), "poisson" (counts), "binomial" (shares), a `Loss` of your own, or "auto" for the one of the
            first four that describes the data best.
        n_jobs: trees that grow at once; -1 uses all processors. The result does not depend on it.
        random_state: a number makes the random choices repeatable. A run repeats to the last digit if its length is a count too:
            `random_state=0, max_evaluations=100_000, timeout=None`.
        verbose: 1 shows each improvement: in a table on a terminal or in a notebook, as lines elsewhere.
        units: the unit of each column by its name, such as `{"m": "kg", "v": "m/s"}`; "" is that of a pure number. "header" takes them
            from names such as "v (m/s)". The law then has the unit of the target, and adds and compares only what has the same unit.
        target_unit: the unit of the target.
        known: named constants that the law may contain, with their units: `{"g": "9.80665 m/s**2", "c": "speed_of_light"}`. Names of
            scipy.constants need no number.
        knowledge: what is known of the shape of the law, a list of statements such as `"f > 0"`, `"increasing in T for p < 3"`,
            `"f(x=0) = 0"`, `"even in x"`, `"symmetric in m1, m2"`, `"f -> 0 as x -> inf"`, `"convex in x"`, `"depends on m"`. No
            formula that breaks one is in the front.
        bounds: where the statements hold, if not in the box of the data: two numbers per column, such as `{"x": (0, 10)}`.
        run_file: the path of a file that keeps the run: `spl show`, `watch` and `report` read it, also during the search, and a search
            that was killed continues from it. None keeps nothing.

    Attributes:
        equations_: the front as a DataFrame: cost, loss, score, cv_loss (on rows that the numbers were not fitted to, by five-fold
            cross-validation), validation_loss (if `fit` got rows for validation), equation.
        constants_: the numbers of the chosen equation as they are printed, one per row: value, standard error, the ends of the 95 %
            interval, kind, the simplest form that the data allows, such as 2/3 or pi, a note if the data does not determine it,
            the term it is part of, with the number in square brackets, and with units that of the number. Kinds are "fitted",
            "rounded" (to a simple number that the data does not distinguish from it; error and interval are those before rounding)
            and "exact" (given by the grammar, no error).
        noise_: the noise model that was used, with how large the noise is, and why it was chosen.
        outliers_: the rows that lie too far from the law for the noise of the others, if the noise model allows for outliers.
        shapes_: which statements of `knowledge` are proved and which are checked, with the worst margin and where it is.
        parts_: what each hole of the form became in the chosen equation, by its name.
        relevance_: what each column brings to the chosen equation, as a Series: the share of its variance that would be lost if the
            column were shuffled; 0 for columns that are not in it.
        notes_: what was changed or left out of the data, and reasons to doubt the answer.
        time_origins_: for each column of dates, the moment from which its seconds are counted, in nanoseconds since 1970.

    Examples:
        >>> X = np.linspace(1, 3, 40).reshape(-1, 1)
        >>> model = SPLRegressor(operators=("+", "*"), random_state=0).fit(X, 3 * X[:, 0] ** 2 + 1)
        >>> model.sympy()
        3*x0**2 + 1
    """

    def __init__(
        self,
        operators: Sequence[str | Operator] = DEFAULT_OPERATORS,
        constants: bool | str = True,
        grammar: Grammar | str | Path | None = None,
        timeout: float | None = TIMEOUT,
        max_evaluations: int | None = None,
        selection: str = "mdl",
        search: SearchConfig | None = None,
        noise: str | Loss = AUTO,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        run_file: str | Path | None = None,
        units: Mapping[str, str] | str | None = None,
        target_unit: str | None = None,
        known: Mapping[str, str | float] | None = None,
        knowledge: Sequence[str] = (),
        bounds: Mapping[str, tuple[float, float]] | None = None,
        form: str | None = None,
        guesses: Sequence[str] = (),
    ) -> None:
        self.operators = operators
        self.constants = constants
        self.grammar = grammar
        self.timeout = timeout
        self.max_evaluations = max_evaluations
        self.selection = selection
        self.search = search
        self.noise = noise
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.run_file = run_file
        self.units = units
        self.target_unit = target_unit
        self.known = known
        self.knowledge = knowledge
        self.bounds = bounds
        self.form = form
        self.guesses = guesses

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        sigma: ArrayLike | None = None,
        sigma_X: ArrayLike | None = None,
        validation: float | tuple[ArrayLike, ...] | None = None,
        groups: Any = None,
    ) -> "SPLRegressor":
        """Find the formula y = f(X). Ctrl-C ends the search with a warning and keeps the best so far; so does `stop`.

        Args:
            X: rows [N, D], an array or a DataFrame, whose column names the formulas then use; otherwise columns are x0, x1, ...
            y: the target [N]; the name of a Series is used in what is shown.
            sample_weight: how much each row counts [N]; by default, all alike. For counts and shares, how often each was measured.
            sigma: the error bar of the target in each row [N], a standard deviation; one number if it is the same for all.
            sigma_X: the error bars of the columns: one number per column [D], or one per cell [N, D].
            validation: rows that neither the search nor the fit of numbers sees: a share of the rows, such as 0.2, drawn by
                `random_state`, or other rows, `(X, y)` or `(X, y, sample_weight)`. `equations_` then has the loss of each equation on
                them, `selection="validation"` chooses by it, and a warning says if the equation is no better than chance there.
            groups: the group that each row belongs to [N], such as its material or experiment: labels, or a DataFrame with two columns
                of labels. All groups follow one law, in which each group may have numbers of its own: k1, k2, ... in `equations_`.
        """
        check_selection(self.selection)
        check_verbose(self.verbose)
        check_run_file(self.run_file)
        config = check_search(self.search)
        limits = Limits(timeout=self.timeout, max_evaluations=self.max_evaluations)
        check_unique(getattr(X, "columns", ()))
        noise = check_noise(self.noise)
        seed = self._choose_seed()
        rows, self.time_origins_ = self._read(X, y, sample_weight, None)
        groupings = self._read_groups(groups, rows, validation)
        data, held_out = set_validation_aside(
            self._make_dataset(rows, sigma, sigma_X),
            validation,
            seed,
            lambda X, y, weights: self._read(X, y, weights, self.time_origins_)[0],
        )
        check_has_held_out(self.selection, held_out is not None)
        target = str(getattr(y, "name", None) or "y")
        self.units_ = read_units(self.units, self.target_unit, self.known, self.constants, data.names, target)
        data, held_out = add_known(data, self.units_), None if held_out is None else add_known(held_out, self.units_)
        grammar, self._form = self._make_grammar(data.names)
        request = RegressionRequest(
            data,
            grammar,
            target=target,
            config=config,
            limits=limits,
            noise=noise,
            n_jobs=count_jobs(self.n_jobs),
            seed=seed,
            held_out=held_out,
            groupings=groupings,
            units=self.units_,
            knowledge=read_knowledge(self.knowledge, self.bounds, data.names, target),
            form=self._form,
            guesses=check_guesses(self.guesses),
        )
        display = self._make_display(request) if self.verbose else nullcontext()
        with stop_flag(self) as flag, display as watch:
            discovery = self._run(request, watch, flag.is_set)
        if discovery.stopped == "interrupted":
            warnings.warn("The search was interrupted; this is the best so far.", SearchInterrupted, stacklevel=2)
        self._keep(discovery, data, request.target)
        self._keep_evidence(data, self.noise, request.grammar.vocabulary.literals, groupings)
        self._keep_knowledge(request.knowledge, data)
        _warn_of_doubts(discovery, len(data.notes))
        return self

    @classmethod
    def from_run(cls, path: str | Path, operators: Sequence[Operator] = (), loss: Loss | None = None) -> "SPLRegressor":
        """Return the fitted estimator of a run file, also during the run; `fit` with the same data continues it.

        Args:
            path: the file that `run_file` or `spl fit --run` named.
            operators: your own operators that the run uses: a file does not hold functions.
            loss: your own loss, if the run uses one.
        """
        from spl.runs.reader import read_run
        from spl.runs.regression import stored_form

        run = read_run(path, operators)
        [search, *_] = run.searches
        if not isinstance(run.data, Dataset):
            raise RunFileError(f"The run in '{path}' is of a system: use SPLDynamics.from_run.")
        if search.discovery is None:
            raise RunFileError(f"The run in '{path}' has found no formula yet. Continue it: spl resume {path}")
        check_no_stand_ins(search.grammar)
        model = cls(
            grammar=search.grammar,
            **run.settings["limits"],
            selection=run.facts.get("selection", "mdl"),
            search=run.config,
            noise=decode_noise(run.settings.get("noise", "normal"), loss),
            run_file=path,
            knowledge=() if run.knowledge is None else run.knowledge.texts,
            bounds=None if run.knowledge is None or not run.knowledge.bounds else dict(run.knowledge.bounds),
            **parameters_of_units(run.units),
            form=run.settings.get("form") or None,
            guesses=tuple(run.settings.get("guesses", ())),
        )
        model._form = stored_form(run)
        if run.facts.get("has_names", True):
            model.feature_names_in_ = np.array(run.measured_names, dtype=object)
        model.n_features_in_ = len(run.measured_names)
        model.units_ = run.units
        model.time_origins_ = read_origins(run.facts.get("origins"))
        model._keep(search.discovery, run.data, search.name)
        model._keep_evidence(run.data, model.noise, search.grammar.vocabulary.literals, run.groupings)
        model._keep_knowledge(run.knowledge, run.data)
        return model

    def stop(self) -> None:
        """End a `fit` that is running in another thread; it returns the best so far within about a second."""
        request_stop_of(self)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _make_dataset(self, rows: Rows, sigma: ArrayLike | None, sigma_X: ArrayLike | None) -> Dataset:
        """Return the complete rows as a dataset, with their error bars."""
        data = Dataset.from_arrays(
            rows.X,
            rows.y,
            names=getattr(self, "feature_names_in_", None),
            weights=rows.weights,
            sigma=None if sigma is None else rows.take(sigma),
            sigma_columns=None if sigma_X is None else rows.take(sigma_X),
            places=RowPlaces(rows.places),
        )
        return replace(data, notes=tuple(rows.notes))

    def _choose_seed(self) -> int:
        """Return the seed of the random choices. A run that is continued keeps its seed, unless another is asked for."""
        if self.random_state is None and self.run_file is not None:
            from spl.runs.reader import read_begun

            before = read_begun(Path(self.run_file))
            if before:
                return int(before["settings"]["seed"])
        return int(check_random_state(self.random_state).randint(2**31))

    def _run(self, request: RegressionRequest, watch: "Watcher | None", must_stop: Callable[[], bool]) -> "Discovery":
        """Search, and keep the run in a file if there is to be one."""
        if self.run_file is None:
            from spl.groups.discover import discover_any

            return discover_any(request, watch=watch, must_stop=must_stop)
        from spl.runs.regression import discover_in_file

        facts = {
            "selection": self.selection,
            "has_names": hasattr(self, "feature_names_in_"),
            "origins": self.time_origins_,
        }
        is_any_seed = self.random_state is None
        return discover_in_file(
            self.run_file, request, is_any_seed=is_any_seed, facts=facts, watch=watch, must_stop=must_stop
        )

    def _make_display(self, request: RegressionRequest) -> "ProgressDisplay":
        """Return the display of each improvement of the chosen equation."""
        from rich.console import Console

        from spl.display.compilation import compile_visibly
        from spl.display.progress import open_display

        compile_visibly(Console(), request)

        def choose(front: Front) -> int:
            return front.choose(rule_while_running(self.selection), request.data.n_rows, request.data.floor)

        return open_display(Console(), request.target, choose, timeout=request.limits.timeout)


def _warn_of_doubts(discovery: "Discovery", n_known: int) -> None:
    """Warn the caller of `fit` about the notes of a search; the first ones, about the data, are known already."""
    from spl.kernels.runtime import store  # slow to import

    for note in (note for note in discovery.notes[n_known:] if note != discovery.screened):
        warnings.warn(note, KernelsNotKept if note in store.troubles else DoubtfulResult, stacklevel=3)
