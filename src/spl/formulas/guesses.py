"""Guesses: formulas that people give to a search to begin with, read and spelled as the grammar spells them."""

from collections.abc import Sequence

from spl.errors import ExpressionError, GrammarError, SettingError, shorten, show_value
from spl.formulas.form_parts import fill_form, find_filling
from spl.formulas.forms import Form
from spl.formulas.grammar import Grammar
from spl.formulas.grammar_spelling import spell_in_grammar
from spl.formulas.program import Program
from spl.formulas.text import parse_expression
from spl.kernels.programs import tokens as tk

MAX_GUESSES = 100


def check_guesses(given: object) -> tuple[str, ...]:
    """Return guesses as a tuple of texts; raise a clear error if they are something else.

    Examples:
        >>> check_guesses(["2*x + 1"])
        ('2*x + 1',)
        >>> check_guesses("2*x + 1")
        Traceback (most recent call last):
        ...
        spl.errors.SettingError: `guesses` must be a list of formulas, such as ['2*x + 1']; got '2*x + 1'.
    """
    is_list = isinstance(given, Sequence) and not isinstance(given, str | bytes)
    if not is_list or not all(isinstance(each, str) for each in given):  # type: ignore[attr-defined]
        raise SettingError(f"`guesses` must be a list of formulas, such as ['2*x + 1']; got {show_value(given)}.")
    guesses: tuple[str, ...] = tuple(given)  # type: ignore[arg-type]
    if len(guesses) > MAX_GUESSES:
        raise SettingError(f"There are {len(guesses)} guesses; at most {MAX_GUESSES} are possible. Leave some out.")
    return guesses


def read_guess(text: str, grammar: Grammar, form: Form | None = None) -> Program:
    """Return a guess as a tree that the grammar has, with its numbers as the values of constants; raise an error if it has none.

    Args:
        text: the formula. A `C` in it is a number without a starting value.
        grammar: the formulas that are possible, over the columns of the data.
        form: the form that these formulas have, if there is one.

    Examples:
        >>> grammar = Grammar.from_text("f -> f + f | C*f | x | C")
        >>> read_guess("2*x + 1", grammar).constants
        (2.0, 1.0)
        >>> read_guess("2*y", grammar)
        Traceback (most recent call last):
        ...
        spl.errors.GrammarError: The guess '2*y' cannot be read. Column 3: There is no variable 'y'. Known names: x.
            2*y
              ^
    """
    try:
        written = parse_expression(text, grammar.vocabulary)
    except ExpressionError as error:
        raise GrammarError(f"The guess '{shorten(text)}' cannot be read. {error}") from None
    if len(written) > tk.MAX_PROGRAM_LENGTH:
        raise GrammarError(f"The guess '{shorten(text)}' has more than {tk.MAX_PROGRAM_LENGTH} parts. Shorten it.")
    spelled = spell_in_grammar(written, grammar)
    if spelled is None and form is not None:
        filling = find_filling(form, written, lambda _one, _other: True)
        filled = None if filling is None else fill_form(form, filling, written.vocabulary)
        spelled = None if filled is None else spell_in_grammar(filled, grammar)
    if spelled is None:
        raise _explain_outside(text, written, grammar, form)
    if spelled.n_constants > tk.MAX_CONSTANTS or len(spelled) > tk.MAX_PROGRAM_LENGTH:
        raise GrammarError(
            f"The guess '{shorten(text)}' has {len(spelled)} parts and {spelled.n_constants} numbers as the grammar spells it; at "
            f"most {tk.MAX_PROGRAM_LENGTH} and {tk.MAX_CONSTANTS} are possible. Shorten it."
        )
    return spelled


def _explain_outside(text: str, written: Program, grammar: Grammar, form: Form | None) -> GrammarError:
    """Return the error for a guess that the grammar does not have; it names operators that no rule has."""
    words = written.vocabulary
    allowed = {
        grammar.vocabulary.operator_of(token) for rule in grammar.rules for token in rule.tokens if _is_operator(token)
    }
    used = {words.operator_of(token) for token in written.tokens if _is_operator(token)}
    missing = sorted(operator.name for operator in used - allowed if operator.traits.is_function)
    if missing:
        why = f"no formula has '{missing[0]}'. Allow this operator, or change the guess."
    elif form is not None:
        why = f"it does not have the form '{shorten(form.text)}'. Change the guess, or the columns of the holes."
    else:
        why = "the operators or the rules do not lead to it. Allow more, or change the guess."
    return GrammarError(f"The guess '{shorten(text)}' is not among the possible formulas: {why}")


def _is_operator(token: int) -> bool:
    return token >> tk.KIND_SHIFT == tk.OPERATOR
