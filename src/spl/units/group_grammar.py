"""The grammar of formulas of dimensionless groups: that of the columns with groups in their place."""

from spl.formulas.grammar import Grammar, Rule
from spl.formulas.text import make_token, quote_name
from spl.kernels.programs import tokens as tk
from spl.units.groups import Groups


def treats_columns_alike(grammar: Grammar) -> bool:
    """Return whether each symbol of a grammar derives all columns or none, and columns stand in no other rules.

    Examples:
        >>> treats_columns_alike(Grammar.from_operators(["+", "sin"], ["x", "y"]))
        True
        >>> treats_columns_alike(Grammar.from_text("f -> f + f | sin(x) | y"))
        False
    """
    bare: dict[int, set[int]] = {}
    for rule in grammar.rules:
        columns = [token for token in rule.tokens if token >> tk.KIND_SHIFT == tk.VARIABLE]
        if columns and len(rule.tokens) > 1:
            return False
        bare.setdefault(rule.symbol, set()).update(columns)
    n_columns = len(grammar.vocabulary.variables)
    return all(len(columns) in (0, n_columns) for columns in bare.values())


def make_group_grammar(grammar: Grammar, groups: Groups) -> Grammar:
    """Return the grammar with the groups in place of the columns; it must treat columns alike.

    It also has the number 1 wherever it has columns, because that is what each repeating column is in groups: `a + r` becomes `1 + r`.

    Examples:
        >>> import numpy as np
        >>> from spl.units.groups import choose_groups
        >>> from spl.units.table_units import read_table_units
        >>> units = read_table_units({"m": "kg", "v": "m/s", "c": "m/s"}, "J", names=["m", "v", "c"])
        >>> groups = choose_groups(units, np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]]))
        >>> print(make_group_grammar(Grammar.from_operators(["+", "*"], units.names), groups))
        f -> f + f | f*f | C*f | 1 | c | C
    """
    first = make_token(tk.VARIABLE, 0)
    words = grammar.vocabulary.with_literal(1.0)
    one = words.literal_token(1.0)
    have_one = {rule.symbol for rule in grammar.rules if rule.tokens == (one,)}
    rules: list[Rule] = []
    for rule in grammar.rules:
        if rule.tokens == (first,):
            if groups.repeating and rule.symbol not in have_one:
                rules.append(Rule(rule.symbol, (one,), "1"))
            rules += [
                Rule(rule.symbol, (make_token(tk.VARIABLE, place),), quote_name(name))
                for place, name in enumerate(groups.names)
            ]
        elif rule.tokens[0] >> tk.KIND_SHIFT != tk.VARIABLE:
            rules.append(rule)
    return Grammar(grammar.symbols, tuple(rules), type(words)(groups.names, words.literals, words.own))
