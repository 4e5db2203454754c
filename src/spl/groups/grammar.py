"""A grammar with own numbers: `K` is a number that each group has for itself, `C` one that all share.

A grammar without `K` says nothing about groups: then any number may be own, and the data decides.
"""

from dataclasses import dataclass, field, replace

from spl.formulas.grammar import Grammar, Rule
from spl.formulas.own_numbers import OWN_NAME
from spl.formulas.program import Program
from spl.formulas.text import CONSTANT_TOKEN, make_token
from spl.groups.formula import GroupedFormula
from spl.kernels.programs import tokens as tk


@dataclass(frozen=True, slots=True)
class GroupedGrammar:
    """A grammar for formulas with own numbers; `columns` are those of the data.

    Examples:
        >>> from spl.formulas.text import to_text
        >>> grammar = GroupedGrammar(Grammar.from_text("f -> K*exp(C*x)", variables=("x", "K")), ("x",))
        >>> str(grammar.shared), grammar.has_own
        ('f -> C*exp(C*x)', True)
    """

    grammar: Grammar
    columns: tuple[str, ...]
    shared: Grammar = field(init=False)  # the same rules with C in place of K

    def __post_init__(self) -> None:
        object.__setattr__(self, "shared", _without_own(self.grammar, self.columns) if self.has_own else self.grammar)

    @property
    def has_own(self) -> bool:
        """Whether the grammar says which numbers are own."""
        return OWN_NAME in self.grammar.vocabulary.variables and OWN_NAME not in self.columns

    @property
    def given(self) -> tuple[float, ...]:
        """The numbers of the grammar, which are exact."""
        return self.grammar.vocabulary.literals

    def derives(self, program: Program) -> bool:
        """Return whether the grammar has a formula, whatever numbers are shared."""
        return self.shared.derives(program)

    def has_operator(self, opcode: int) -> bool:
        """Return whether an operator appears in the rules."""
        token = make_token(tk.OPERATOR, opcode)
        return any(token in rule.tokens for rule in self.grammar.rules)

    def allows(self, formula: GroupedFormula) -> bool:
        """Return whether the grammar has a formula with these own numbers."""
        if not self.has_own:
            return True
        place = self.grammar.vocabulary.variables.index(OWN_NAME)
        token = make_token(tk.VARIABLE, len(self.columns))
        tokens = tuple(
            token if each >> tk.KIND_SHIFT == tk.VARIABLE and each & tk.PAYLOAD_MASK >= len(self.columns) else each
            for each in formula.program.tokens
        )
        words = replace(formula.program.vocabulary, variables=(*self.columns, OWN_NAME))
        assert place >= 0
        return self.grammar.derives(Program(tokens, words, formula.program.constants))


def _without_own(grammar: Grammar, columns: tuple[str, ...]) -> Grammar:
    own = make_token(tk.VARIABLE, grammar.vocabulary.variables.index(OWN_NAME))
    seen: dict[tuple[int, tuple[int, ...]], Rule] = {}
    for rule in grammar.rules:
        tokens = tuple(CONSTANT_TOKEN if token == own else token for token in rule.tokens)
        text = rule.text if tokens == rule.tokens else rule.text.replace(OWN_NAME, "C")
        seen.setdefault((rule.symbol, tokens), Rule(rule.symbol, tokens, text))
    return Grammar(grammar.symbols, tuple(seen.values()), replace(grammar.vocabulary, variables=columns))
