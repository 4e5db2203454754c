"""The request: what a search is asked for. Everyone who starts one, in Python or from a command, fills in this record."""

from dataclasses import KW_ONLY, dataclass, field

from spl.data.dataset import Dataset
from spl.data.groupings import MAX_GROUPINGS, Grouping
from spl.data.hold_out import check_held_out
from spl.errors import DataError, GrammarError, SettingError, shorten
from spl.formulas.forms import Form
from spl.formulas.grammar import Grammar
from spl.formulas.guesses import check_guesses, read_guess
from spl.formulas.own_numbers import OWN_NAME
from spl.formulas.program import Program
from spl.knowledge.knowledge import Knowledge
from spl.noise.models import BINOMIAL, NORMAL, POISSON, NoiseModel, check_targets
from spl.settings import Limits, SearchConfig
from spl.units.group_grammar import treats_columns_alike
from spl.units.table_units import TableUnits
from spl.units.unit_grammar import make_unit_grammar


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
        groupings: which group each row belongs to, if groups may have numbers of their own; one or two groupings.
        units: the units of the columns and the target; None if they play no part.
        knowledge: what is known of the shape of the law: formulas that break it are left out.
        form: the form that all formulas of the grammar have, if it was made of one; see `formulas/forms`.
        guesses: formulas to begin with, as texts; the search varies them.
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
    groupings: tuple[Grouping, ...] = ()
    units: TableUnits | None = None
    knowledge: Knowledge | None = None
    form: Form | None = None
    guesses: tuple[str, ...] = ()
    guessed: tuple[Program, ...] = field(init=False)  # the guesses as trees of the grammar, with their numbers

    def __post_init__(self) -> None:
        bound = bind_grammar(self.grammar, self.data.names, self.groupings)
        object.__setattr__(self, "grammar", hold_units(bound, self.units))
        object.__setattr__(self, "guessed", tuple(self._read_guess(text) for text in check_guesses(self.guesses)))
        check_groupings(self.groupings, self.data.n_rows)
        check_knowledge_suits(self.knowledge, self.groupings)
        check_units_suit(self.units, self.groupings)
        if self.has_known_form and self.knowledge is not None and self.knowledge.statements:
            raise SettingError(
                "Statements about the shape of the law cannot be combined with a form without holes, which is the law already. Leave "
                "out the statements, or write a hole for the part that they are about."
            )
        check_noise_suits(self.noise, self.data)
        if self.held_out is not None:
            check_held_out(self.held_out, self.data.names)
            try:
                check_noise_suits(self.noise, self.held_out)
            except DataError as error:
                raise DataError(f"The validation rows do not suit the noise model. {error}") from None

    def allows(self, program: Program) -> bool:
        """Return whether a formula of the columns is possible: the grammar has it, and it has the unit of the target."""
        return self.grammar.derives(program) and self.respects(program)

    def respects(self, program: Program) -> bool:
        """Return whether a formula of the columns has the unit of the target; without units, each one does."""
        return self.units is None or self.units.allow(program)

    @property
    def has_known_form(self) -> bool:
        """Whether there is a form without holes: only its numbers are to be fitted."""
        return self.form is not None and not self.form.holes

    def _read_guess(self, text: str) -> Program:
        guess = read_guess(text, self.grammar, self.form)
        if not self.respects(guess):
            raise GrammarError(f"The guess '{shorten(text)}' does not have the unit of the target. Change the guess.")
        return guess


def bind_grammar(grammar: Grammar, columns: tuple[str, ...], groupings: tuple[Grouping, ...]) -> Grammar:
    """Return a grammar bound to columns; `K` in its rules is an own number, which needs groups, unless a column is called so."""
    if OWN_NAME not in grammar.vocabulary.variables or OWN_NAME in columns:
        return grammar.bind(columns)
    if not groupings:
        raise GrammarError(
            f"The grammar has `{OWN_NAME}`, a number that each group has for itself, but there are no groups. Name the groups, or "
            "write `C` for a number that all rows share."
        )
    return grammar.bind((*columns, OWN_NAME))


def hold_units(grammar: Grammar, units: TableUnits | None) -> Grammar:
    """Return a grammar that treats columns differently without the formulas that break the units.

    Where columns are alike, the search holds the units by itself; where numbers may have units, they are put in later.
    """
    if units is None or units.are_numbers_free or treats_columns_alike(grammar):
        return grammar
    return make_unit_grammar(grammar, units)


def check_knowledge_suits(knowledge: Knowledge | None, groupings: tuple[Grouping, ...]) -> None:
    """Raise a clear error if statements about the shape of a law are combined with groups."""
    if knowledge is not None and knowledge.statements and groupings:
        raise SettingError(
            "Statements about the shape of the law cannot be combined with groups: each group has a formula of its own. Leave out one "
            "of them."
        )


def check_units_suit(units: TableUnits | None, groupings: tuple[Grouping, ...]) -> None:
    """Raise a clear error if units are combined with groups."""
    if units is not None and groupings:
        raise SettingError("Units cannot be combined with groups yet. Leave out one of them.")


def check_groupings(groupings: tuple[Grouping, ...], n_rows: int) -> None:
    """Raise a clear error unless the groupings fit the rows."""
    if len(groupings) > MAX_GROUPINGS:
        raise DataError(f"There are {len(groupings)} groupings; at most {MAX_GROUPINGS} are possible. Leave some out.")
    for grouping in groupings:
        if grouping.codes.size != n_rows:
            raise DataError(
                f"There must be one group label per row ({n_rows}); '{grouping.name}' has {grouping.codes.size}."
            )


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
