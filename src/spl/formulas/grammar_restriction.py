"""A grammar without some of its columns: the rules that can still finish."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from spl.formulas.grammar import Grammar, Rule
from spl.formulas.text import make_token
from spl.kernels.programs import tokens as tk


def restrict_grammar(grammar: Grammar, names: Collection[str]) -> Grammar | None:
    """Return the grammar of all formulas that use no other columns than these; None if there is none.

    Rules with other columns are left out, and so are rules that can no longer finish and symbols that nothing leads to. The columns
    keep their order. Numbers and operators of your own stay in the vocabulary, used or not.

    Args:
        grammar: its variables are the columns.
        names: the columns to keep.

    Examples:
        >>> grammar = Grammar.from_text('''
        ...     f -> f + f | sin(a) | C*g | x | y
        ...     a -> y
        ...     g -> x | y*g
        ... ''')
        >>> print(restrict_grammar(grammar, ["x"]))
        f -> f + f | C*g | x
        g -> x
        >>> restrict_grammar(Grammar.from_text("f -> f + f | x"), ["y"]) is None
        True
    """
    variables = grammar.vocabulary.variables
    kept = [place for place, name in enumerate(variables) if name in names]
    if len(kept) == len(variables):
        return grammar
    rules = _find_useful(_find_finishing([rule for rule in grammar.rules if _variables_of(rule) <= {*kept}]))
    if not rules:
        return None
    symbols = sorted({rule.symbol for rule in rules})
    renumbered = _renumber(tk.VARIABLE, kept) | _renumber(tk.SYMBOL, symbols)
    return Grammar(
        tuple(grammar.symbols[number] for number in symbols),
        tuple(_rewrite(rule, symbols.index(rule.symbol), renumbered) for rule in rules),
        replace(grammar.vocabulary, variables=tuple(variables[place] for place in kept)),
    )


def arrange_grammar(grammar: Grammar, names: Sequence[str]) -> Grammar:
    """Return the same grammar with its columns, and the rules with columns in them, in the order of the names.

    Args:
        grammar: its variables are the columns.
        names: all of them, in the order wanted.

    Examples:
        >>> print(arrange_grammar(Grammar.from_text("f -> x | y | f + f"), ["y", "x"]))
        f -> f + f | y | x
    """
    bound = grammar.bind(names)
    rules = sorted(bound.rules, key=lambda rule: (rule.symbol, max(_variables_of(rule), default=-1)))
    return Grammar(bound.symbols, tuple(rules), bound.vocabulary)


def _variables_of(rule: Rule) -> set[int]:
    return {token & tk.PAYLOAD_MASK for token in rule.tokens if token >> tk.KIND_SHIFT == tk.VARIABLE}


def _find_finishing(rules: list[Rule]) -> list[Rule]:
    """Return the rules that lead to a formula, by whichever rules follow."""
    finished: set[int] = set()
    while True:
        finishing = [rule for rule in rules if finished.issuperset(rule.symbols_used())]
        symbols = {rule.symbol for rule in finishing}
        if symbols == finished:
            return finishing
        finished = symbols


def _find_useful(rules: list[Rule]) -> list[Rule]:
    """Return the rules of the symbols that the start leads to; none if the start has no rules."""
    reached = {0}
    while True:
        useful = [rule for rule in rules if rule.symbol in reached]
        further = reached.union(*(rule.symbols_used() for rule in useful))
        if further == reached:
            return useful
        reached = further


def _renumber(kind: int, kept: list[int]) -> dict[int, int]:
    """Return the new token for each token of a kind."""
    return {make_token(kind, old): make_token(kind, new) for new, old in enumerate(kept)}


def _rewrite(rule: Rule, symbol: int, renumbered: Mapping[int, int]) -> Rule:
    return replace(rule, symbol=symbol, tokens=tuple(renumbered.get(token, token) for token in rule.tokens))
