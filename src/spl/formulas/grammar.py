"""The grammar: which formulas a search may build, as rules over expression trees.

A rule replaces a symbol by a small tree (a template) whose leaves may be symbols again, so a derivation and its formula can never
disagree. `grammar_text` reads the text form, `grammar_rules` builds a grammar from a list of operators.
"""

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path

from spl.errors import SHOWN_PATH, GrammarError, shorten, suggest_name
from spl.formulas.grammar_membership import Membership
from spl.formulas.operators import Operator
from spl.formulas.primes import explain_rate
from spl.formulas.program import Program, Vocabulary
from spl.formulas.text import CONSTANT_TOKEN, make_token, parse_expression, quote_name
from spl.kernels.programs import tokens as tk

MAX_GRAMMAR_RULES = 10_000
MAX_NAMES = tk.PAYLOAD_MASK + 1  # how many symbols, variables or literals tokens can distinguish
_LINE_WIDTH = 100
_REPR_LENGTH = 60  # characters of the rules that `repr` shows


@dataclass(frozen=True, slots=True)
class Rule:
    """One way to replace a symbol: prefix tokens, which may include symbols and constants, and their text."""

    symbol: int
    tokens: tuple[int, ...]
    text: str

    def symbols_used(self) -> Iterator[int]:
        """Yield the number of each symbol on the right-hand side, in order and with repetitions."""
        return (token & tk.PAYLOAD_MASK for token in self.tokens if token >> tk.KIND_SHIFT == tk.SYMBOL)


@dataclass(frozen=True, slots=True)
class Grammar:
    """Symbols, the start symbol first, and the rules that replace them.

    A grammar is checked when it is made: each symbol has rules, is reached from the start and can finish; no rule appears twice.
    Make one with `from_text`, `from_file` or `from_operators`.

    Args:
        symbols: the names that have rules, the start first.
        rules: the rules of all symbols.
        vocabulary: the columns, numbers and operators of your own that rules use.

    Examples:
        >>> grammar = Grammar.from_text('''
        ...     f   -> f + f | C * f | sin(arg) | x
        ...     arg -> x | x**2
        ... ''')
        >>> grammar.derives("x + 2.5 * sin(x**2)"), grammar.derives("sin(x + 1)")
        (True, False)
    """

    symbols: tuple[str, ...]
    rules: tuple[Rule, ...]
    vocabulary: Vocabulary
    shortest: tuple[int, ...] = field(init=False)  # fewest rules that finish each symbol
    _membership: Membership = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _check_size(self)
        _check_rules(self)
        _check_reached(self)
        object.__setattr__(self, "shortest", _count_shortest(self))
        templates = [(rule.symbol, rule.tokens) for rule in self.rules]
        object.__setattr__(self, "_membership", Membership(templates, len(self.symbols), self.vocabulary))

    @classmethod
    def from_text(cls, text: str, own: Iterable[Operator] = (), variables: Sequence[str] | None = None) -> "Grammar":
        """Return the grammar of a text with one symbol per line, its alternatives separated by `|`.

        Names with rules are symbols, `C` is a constant to be fitted, numbers are themselves, and every other name is a
        variable: one of `variables` if they are given, otherwise numbered in the order of appearance.

        Args:
            text: the rules, such as `f -> f + f | C * f | x`.
            own: operators of your own that the rules use.
            variables: the columns, in order; left out, they are taken from the rules.

        Examples:
            >>> Grammar.from_text("f -> f * f | x | C").vocabulary.variables
            ('x',)
            >>> Grammar.from_text("f -> f * f | sine(x)")
            Traceback (most recent call last):
            ...
            spl.errors.GrammarError: Line 1, column 14: There is no operator 'sine'. Did you mean 'sin'?
                f -> f * f | sine(x)
                             ^
        """
        from spl.formulas.grammar_text import read_grammar  # it makes grammars, so it imports this file

        return read_grammar(text, tuple(own), None if variables is None else tuple(variables))

    @classmethod
    def from_file(
        cls, path: str | Path, own: Iterable[Operator] = (), variables: Sequence[str] | None = None
    ) -> "Grammar":
        """Return the grammar in a text file (UTF-8).

        Args:
            path: the file.
            own: operators of your own that the rules use.
            variables: the columns, in order; left out, they are taken from the rules.
        """
        try:
            text = Path(path).read_text(encoding="utf-8-sig")
        except UnicodeDecodeError:
            raise GrammarError(
                f"The grammar file '{shorten(str(path), SHOWN_PATH)}' is not text in UTF-8. Save it as UTF-8."
            ) from None
        except (OSError, ValueError) as error:
            from spl.formulas.grammar_text import looks_like_rules  # it makes grammars, so it imports this file

            reason = getattr(error, "strerror", None) or error
            hint = " These are rules; write them into a file and name it here." * looks_like_rules(str(path))
            raise GrammarError(
                f"The grammar file '{shorten(str(path), SHOWN_PATH)}' cannot be read: {reason}.{hint}"
            ) from None
        return cls.from_text(text, own, variables)

    @classmethod
    def from_operators(
        cls,
        operators: Sequence[str | Operator],
        variables: Sequence[str],
        *,
        constants: bool = True,
        inside: str = "anything",
        max_power: int = 3,
        nesting: bool = True,
        integers: Sequence[int] = (),
    ) -> "Grammar":
        """Return the grammar of all formulas that use some operators and obey some constraints.

        Args:
            operators: names or signs (`"+"`, `"sin"`), or operators of your own.
            variables: the columns.
            constants: whether formulas may have constants to be fitted.
            inside: `"anything"`; or `"variables"`, for only variables and constants inside trigonometric functions; or
                `"polynomials"`, for only polynomials inside trigonometric functions, logarithms and roots.
            max_power: the highest total degree of those polynomials.
            nesting: whether trigonometric functions, logarithms and roots may be nested.
            integers: whole numbers that formulas may use.

        Examples:
            >>> print(Grammar.from_operators(["+", "*", "sin"], ["x"], inside="variables"))
            f   -> f + f | f*f | sin(arg) | C*f | x | C
            arg -> C*arg | x
        """
        from spl.formulas.grammar_rules import Constraints, build_grammar  # it makes grammars, so it imports this file

        constraints = Constraints(
            constants=constants, inside=inside, max_power=max_power, nesting=nesting, integers=tuple(integers)
        )
        return build_grammar(operators, variables, constraints)

    @property
    def has_constants(self) -> bool:
        """Whether any rule has a constant to be fitted."""
        return any(CONSTANT_TOKEN in rule.tokens for rule in self.rules)

    def bind(self, columns: Sequence[str]) -> "Grammar":
        """Return the same grammar with the variables numbered as the columns of a table.

        Args:
            columns: the names of the columns, in order; every variable of the rules must be among them.

        Examples:
            >>> Grammar.from_text("f -> f + f | speed").bind(["time", "speed"]).vocabulary.variables
            ('time', 'speed')
        """
        columns = tuple(columns)
        _check_columns(self, columns)
        place = {name: make_token(tk.VARIABLE, number) for number, name in enumerate(columns)}
        renumbered = {
            make_token(tk.VARIABLE, number): place[name]
            for number, name in enumerate(self.vocabulary.variables)
            if name in place
        }
        rules = tuple(
            replace(rule, tokens=tuple(renumbered.get(token, token) for token in rule.tokens)) for rule in self.rules
        )
        return Grammar(self.symbols, rules, replace(self.vocabulary, variables=columns))

    def derives(self, expression: Program | str, symbol: str | None = None) -> bool:
        """Return whether a formula can be derived from a symbol.

        A number in the formula matches the same number or a constant of a rule; a `C` matches only a constant of a rule.
        A program must have exactly the tree of a derivation. Text may be another spelling of it: `x**2` also matches
        `f**C` in a rule, `x - 2` also `x + -2`, and `1/x` also `inv(x)`.

        Args:
            expression: the formula, as text or as a program.
            symbol: the name of the symbol; left out, the start symbol.

        Examples:
            >>> grammar = Grammar.from_text("f -> f**C | x")
            >>> grammar.derives("x**2"), grammar.derives("2**x")
            (True, False)
        """
        number = self._symbol_number(symbol)
        if isinstance(expression, str):
            return self._membership.accepts_spelling(parse_expression(expression, self.vocabulary), number)
        return self._membership.accepts(expression, number)

    def derives_template(self, tokens: Sequence[int], symbol: int) -> bool:
        """Return whether a symbol derives a tree of tokens whose leaves may be symbols.

        Args:
            tokens: the tree in prefix order.
            symbol: the number of the symbol.
        """
        return self._membership.accepts_template(tokens, symbol)

    def states_of(self, token: int, *arguments: int) -> int:
        """Return the states of this grammar's automaton that a tree is in, as bits; 0 if no rule has such a tree.

        Args:
            token: the root of the tree, one of the grammar's own tokens.
            arguments: the states of its arguments.
        """
        return self._membership.states_of(token, *arguments)

    def is_start(self, states: int) -> bool:
        """Return whether the start symbol is among states: then it derives the tree that is in them.

        Args:
            states: as `states_of` returns them.
        """
        return bool(states & 1)

    def explain(self) -> str:
        """Return a description in a few lines: symbols, variables, operators, and how many formulas there are."""
        from spl.formulas.grammar_summary import summarize_grammar  # it takes grammars, so it imports this file

        return summarize_grammar(self)

    def __repr__(self) -> str:
        return f"Grammar({shorten('; '.join(str(self).splitlines()), _REPR_LENGTH)!r})"

    def __str__(self) -> str:
        width = max(len(quote_name(name)) for name in self.symbols)
        lines: list[str] = []
        for symbol, rules in groupby(self.rules, key=lambda rule: rule.symbol):
            line = f"{quote_name(self.symbols[symbol]):<{width}} ->"
            for number, rule in enumerate(rules):
                if number and len(line) + len(rule.text) > _LINE_WIDTH:
                    lines.append(line)
                    line = " " * (width + 1)
                line += f" | {rule.text}" if number else f" {rule.text}"
            lines.append(line)
        return "\n".join(lines)

    def _symbol_number(self, symbol: str | None) -> int:
        if symbol is None:
            return 0
        if symbol not in self.symbols:
            raise GrammarError(
                f"There is no symbol '{shorten(symbol)}' in the grammar.{suggest_name(symbol, self.symbols)}"
            )
        return self.symbols.index(symbol)


def _check_size(grammar: Grammar) -> None:
    if not grammar.symbols or not grammar.rules:
        raise GrammarError("The grammar has no rules. Write at least one, for example `f -> f + f | C * f | x`.")
    if len(grammar.rules) > MAX_GRAMMAR_RULES:
        raise GrammarError(
            f"The grammar has {len(grammar.rules)} rules; at most {MAX_GRAMMAR_RULES} are possible. Use fewer."
        )
    words = grammar.vocabulary
    if max(len(grammar.symbols), len(words.variables), len(words.literals)) > MAX_NAMES:
        raise GrammarError(f"The grammar has more than {MAX_NAMES} symbols, variables or numbers. Use fewer.")


def _check_rules(grammar: Grammar) -> None:
    """Check each rule by itself, and that none appears twice."""
    seen: set[tuple[int, tuple[int, ...]]] = set()
    for rule in grammar.rules:
        name = _show_rule(rule, grammar)
        if not _is_template(rule.tokens, grammar):
            raise GrammarError(f"The tokens of the rule {name} are not one tree: {list(rule.tokens)}.")
        if rule.tokens == (make_token(tk.SYMBOL, rule.symbol),):
            raise GrammarError(f"The rule {name} replaces a symbol by itself. Delete it.")
        if (rule.symbol, rule.tokens) in seen:
            raise GrammarError(f"The rule {name} appears twice. Delete one of the two.")
        seen.add((rule.symbol, rule.tokens))


def _show_rule(rule: Rule, grammar: Grammar) -> str:
    return f"'{shorten(quote_name(grammar.symbols[rule.symbol]))} -> {shorten(rule.text)}'"


def _is_template(tokens: tuple[int, ...], grammar: Grammar) -> bool:
    sizes = {
        tk.VARIABLE: len(grammar.vocabulary.variables),
        tk.LITERAL: len(grammar.vocabulary.literals),
        tk.SYMBOL: len(grammar.symbols),
    }
    open_arguments = 1
    for token in tokens:
        kind, payload = token >> tk.KIND_SHIFT, token & tk.PAYLOAD_MASK
        if open_arguments == 0 or payload >= sizes.get(kind, MAX_NAMES):
            return False
        open_arguments += grammar.vocabulary.arity_of(token) - 1
    return open_arguments == 0


def _check_reached(grammar: Grammar) -> None:
    """Check that each symbol has rules and is reached from the start."""
    reached = _reach(grammar, 0)
    with_rules = {rule.symbol for rule in grammar.rules}
    for number, name in enumerate(grammar.symbols):
        if number not in with_rules:
            raise GrammarError(f"'{shorten(name)}' is a symbol without rules. Give it at least one.")
        if number not in reached:
            raise GrammarError(
                f"'{shorten(name)}' has rules, but nothing leads to it from '{shorten(grammar.symbols[0])}'. "
                "Use it in a rule, or delete its rules."
            )


def _reach(grammar: Grammar, start: int) -> set[int]:
    """Return the symbols that derivations from a symbol can reach, including itself."""
    leads_to: dict[int, set[int]] = {}
    for rule in grammar.rules:
        leads_to.setdefault(rule.symbol, set()).update(rule.symbols_used())
    reached, todo = {start}, [start]
    while todo:
        new = leads_to.get(todo.pop(), set()) - reached
        reached |= new
        todo.extend(new)
    return reached


def _check_columns(grammar: Grammar, columns: tuple[str, ...]) -> None:
    """Check that each variable of the rules is a column, and that no symbol hides one."""
    for name in grammar.symbols:
        if name in columns:
            raise GrammarError(f"'{shorten(name)}' has rules, but is also a column. Give the symbol another name.")
    for rule in grammar.rules:
        for token in rule.tokens:
            if token >> tk.KIND_SHIFT != tk.VARIABLE:
                continue
            name = grammar.vocabulary.variables[token & tk.PAYLOAD_MASK]
            if name not in columns:
                listed = (
                    f" The columns are: {', '.join(shorten(quote_name(column)) for column in columns[:20])}."
                    if columns
                    else ""
                )
                raise GrammarError(
                    f"There is no column '{shorten(name)}', which the rule {_show_rule(rule, grammar)} uses."
                    f"{explain_rate(name, columns) or suggest_name(name, columns) or listed}"
                )


def _count_shortest(grammar: Grammar) -> tuple[int, ...]:
    """Return the fewest rules that finish each symbol, shortest first as in Dijkstra's search (Knuth, 1977)."""
    waiting = [list(rule.symbols_used()) for rule in grammar.rules]  # what each rule needs
    needed_by: dict[int, list[int]] = {}
    for number, needs in enumerate(waiting):
        for symbol in needs:
            needed_by.setdefault(symbol, []).append(number)
    n_open = [len(needs) for needs in waiting]
    n_rules = [1] * len(waiting)  # of the derivation that begins with this rule, so far
    finished: dict[int, int] = {}
    heap = [(1, grammar.rules[number].symbol) for number, count in enumerate(n_open) if count == 0]
    heapq.heapify(heap)
    while heap:
        count, symbol = heapq.heappop(heap)
        if symbol in finished:
            continue
        finished[symbol] = count
        for number in needed_by.get(symbol, ()):
            n_open[number] -= 1
            n_rules[number] += count
            if n_open[number] == 0:
                heapq.heappush(heap, (n_rules[number], grammar.rules[number].symbol))
    if len(finished) < len(grammar.symbols):
        raise _never_finishes(grammar, set(range(len(grammar.symbols))) - finished.keys())
    return tuple(finished[number] for number in range(len(grammar.symbols)))


def _never_finishes(grammar: Grammar, endless: set[int]) -> GrammarError:
    """Return the error for the symbol to blame: of those that never finish, the one that leads to the fewest others."""
    name = grammar.symbols[min(sorted(endless), key=lambda number: len(_reach(grammar, number) & endless))]
    return GrammarError(
        f"'{shorten(name)}' can never finish: each of its rules leads to a symbol that never ends. "
        f"Give it a rule that ends, for example `{shorten(quote_name(name))} -> C`."
    )
