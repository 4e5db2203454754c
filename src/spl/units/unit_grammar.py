"""A grammar whose symbols carry units: each formula that it derives has the unit of the target, and breaks none on the way.

For rules that treat columns differently, where dimensionless groups would not obey them. Each symbol becomes one symbol per dimension
that it can have, and each rule one rule per consistent choice of dimensions.
"""

from collections.abc import Iterator
from itertools import product

from spl.errors import GrammarError
from spl.formulas.grammar import Grammar, Rule
from spl.formulas.program import Program, Vocabulary
from spl.formulas.text import make_token, write_tokens
from spl.kernels.programs import tokens as tk
from spl.units.dimension import Dimension
from spl.units.inference import infer_dimension
from spl.units.table_units import TableUnits
from spl.units.unit import unit_of_dimension

MAX_RULES_DEEP = 6  # rules on top of each other that lead to the dimensions considered
MAX_DIMENSIONS = 60  # of one symbol
MAX_RULES = 3_000

_Typed = tuple[int, Dimension]  # a symbol with its dimension


def make_unit_grammar(grammar: Grammar, units: TableUnits) -> Grammar:
    """Return the grammar of those formulas that have the unit of the target.

    Dimensions that only more than six rules on top of each other reach are left out.

    Args:
        grammar: bound to the columns.
        units: of the columns and the target.

    Examples:
        >>> from spl.units.table_units import read_table_units
        >>> units = read_table_units({"m": "kg", "v": "m/s"}, "J", names=["m", "v"])
        >>> grammar = Grammar.from_text("f -> f + f | f*f | C*f | m | v", variables=["m", "v"])
        >>> typed = make_unit_grammar(grammar, units)
        >>> typed.derives("0.5*m*v*v"), typed.derives("m*v"), typed.derives("m*v*v + m")
        (True, False, False)
    """
    words = grammar.vocabulary
    reached = _find_dimensions(grammar, units)
    rules: dict[_Typed, list[tuple[Rule, tuple[Dimension, ...]]]] = {}
    start = (0, units.target.dimension)
    todo, n_rules = [start], 0
    while todo:
        typed = todo.pop()
        if typed in rules:
            continue
        rules[typed] = [*_choices(grammar, typed, reached, units)]
        n_rules += len(rules[typed])
        if n_rules > MAX_RULES:
            raise GrammarError(
                f"With units, the grammar needs more than {MAX_RULES} rules: too many dimensions are possible. Use fewer columns or "
                "operators, or say more about which columns stand where."
            )
        for rule, dimensions in rules[typed]:
            todo += zip(rule.symbols_used(), dimensions, strict=True)
    finishing = _find_finishing(rules)
    if start not in finishing:
        raise GrammarError(
            f"No formula of the grammar has the unit of the target, {units.target}. Add what is missing, or check the units of the "
            "columns."
        )
    made = _number(grammar, rules, _reach(rules, start, finishing), finishing, words)
    is_same = len(made.symbols) == len(grammar.symbols) and len(made.rules) == len(grammar.rules)
    return grammar if is_same else made


def _find_dimensions(grammar: Grammar, units: TableUnits) -> dict[int, list[Dimension]]:
    """Return the dimensions that each symbol can have, the nearest first."""
    reached: dict[int, list[Dimension]] = {symbol: [] for symbol in range(len(grammar.symbols))}
    for _ in range(MAX_RULES_DEEP):
        before = {symbol: tuple(dimensions) for symbol, dimensions in reached.items()}
        for rule in grammar.rules:
            known = reached[rule.symbol]
            for dimensions in product(*(before[symbol] for symbol in rule.symbols_used())):
                found = _infer(rule, dimensions, grammar.vocabulary, units)
                if found is not None and found not in known and len(known) < MAX_DIMENSIONS:
                    known.append(found)
        if all(len(before[symbol]) == len(dimensions) for symbol, dimensions in reached.items()):
            break
    return reached


def _choices(
    grammar: Grammar, typed: _Typed, reached: dict[int, list[Dimension]], units: TableUnits
) -> Iterator[tuple[Rule, tuple[Dimension, ...]]]:
    """Yield the rules of a symbol, with dimensions of their symbols that give it its own."""
    symbol, wanted = typed
    for rule in grammar.rules:
        if rule.symbol != symbol:
            continue
        for dimensions in product(*(reached[each] for each in rule.symbols_used())):
            if _infer(rule, dimensions, grammar.vocabulary, units) == wanted:
                yield rule, dimensions


def _infer(rule: Rule, dimensions: tuple[Dimension, ...], words: Vocabulary, units: TableUnits) -> Dimension | None:
    """Return the dimension of a rule's template with these dimensions of its symbols, in order; None if it has none."""
    n_columns = len(words.variables)
    places = iter(range(n_columns, n_columns + len(dimensions)))
    tokens = tuple(
        make_token(tk.VARIABLE, next(places)) if token >> tk.KIND_SHIFT == tk.SYMBOL else token for token in rule.tokens
    )
    named = Vocabulary((*words.variables, *(f"symbol {k}" for k in range(len(dimensions)))), words.literals, words.own)
    n_constants = sum(token >> tk.KIND_SHIFT == tk.CONSTANT for token in tokens)
    program = Program(tokens, named, (0.123,) * n_constants)  # no simple fraction: a fitted exponent is no exact one
    return infer_dimension(program, (*units.dimensions, *dimensions)).dimension


def _find_finishing(rules: dict[_Typed, list[tuple[Rule, tuple[Dimension, ...]]]]) -> set[_Typed]:
    """Return the symbols that lead to a formula."""
    finishing: set[_Typed] = set()
    while True:
        more = {
            typed
            for typed, choices in rules.items()
            if any(
                finishing.issuperset(zip(rule.symbols_used(), dimensions, strict=True)) for rule, dimensions in choices
            )
        }
        if more == finishing:
            return finishing
        finishing = more


def _write(tokens: tuple[int, ...], words: Vocabulary, symbols: tuple[str, ...]) -> str:
    """Return the text of a template."""
    n_columns = len(words.variables)
    named = Vocabulary((*words.variables, *symbols), words.literals, words.own)
    return write_tokens(
        tuple(
            make_token(tk.VARIABLE, n_columns + (token & tk.PAYLOAD_MASK))
            if token >> tk.KIND_SHIFT == tk.SYMBOL
            else token
            for token in tokens
        ),
        named,
    )


def _reach(
    rules: dict[_Typed, list[tuple[Rule, tuple[Dimension, ...]]]], start: _Typed, finishing: set[_Typed]
) -> list[_Typed]:
    """Return the symbols that the start leads to, by rules that can finish; the start comes first."""
    order = [start]
    for typed in order:
        for rule, dimensions in rules[typed]:
            used = list(zip(rule.symbols_used(), dimensions, strict=True))
            if finishing.issuperset(used):
                order += [each for each in dict.fromkeys(used) if each not in order]
    return order


def _number(
    grammar: Grammar,
    rules: dict[_Typed, list[tuple[Rule, tuple[Dimension, ...]]]],
    order: list[_Typed],
    finishing: set[_Typed],
    words: Vocabulary,
) -> Grammar:
    """Return the grammar of these symbols."""
    place = {typed: number for number, typed in enumerate(order)}
    symbols = tuple(f"{grammar.symbols[symbol]} [{unit_of_dimension(dimension)}]" for symbol, dimension in order)
    made = []
    for typed in order:
        for rule, dimensions in rules[typed]:
            used = list(zip(rule.symbols_used(), dimensions, strict=True))
            if not finishing.issuperset(used):
                continue
            numbers = iter(place[each] for each in used)
            tokens = tuple(
                make_token(tk.SYMBOL, next(numbers)) if token >> tk.KIND_SHIFT == tk.SYMBOL else token
                for token in rule.tokens
            )
            if tokens != (make_token(tk.SYMBOL, place[typed]),):
                made.append(Rule(place[typed], tokens, _write(tokens, words, symbols)))
    return Grammar(symbols, tuple(made), words)
