"""Membership: which symbols of a grammar derive a formula, by a bottom-up tree automaton over the rules.

Each distinct subtree of a rule is a state, and so is each symbol. A node's set of states follows from its token and the sets of its
arguments alone, so each combination is worked out once and then looked up. A set of states is an integer with one bit per state.
"""

from collections.abc import Sequence
from typing import NamedTuple

from spl.formulas.program import Program, Vocabulary
from spl.formulas.text import CONSTANT_TOKEN, exponent_of
from spl.kernels.programs import tokens as tk

_OPPOSITE = {tk.ADD: tk.SUB, tk.SUB: tk.ADD}


class _Spelling(NamedTuple):
    """A subtree in all spellings that print alike: its states, those of its negative, and its value if it is a number."""

    states: int
    negative: int
    number: float | None = None


class Membership:
    """Decides which symbols derive a program. `templates` pairs each symbol's number with tokens that replace it."""

    def __init__(
        self, templates: Sequence[tuple[int, tuple[int, ...]]], n_symbols: int, vocabulary: Vocabulary
    ) -> None:
        self._vocabulary = vocabulary
        self._states: dict[tuple[int, ...], int] = {}  # from a token and the states of its arguments
        self._n_symbols = n_symbols
        roots = [(symbol, self._state_of(tokens)) for symbol, tokens in templates]
        holds = self._holds = self._close(roots)
        self._moves: dict[int, list[tuple[tuple[int, ...], int]]] = {}
        for (token, *arguments), state in self._states.items():
            self._moves.setdefault(token, []).append((tuple(arguments), holds[state]))
        self._known: dict[tuple[int, ...], int] = {}
        self._constant = self._move(CONSTANT_TOKEN)
        self._variables = {
            name: self._move(tk.VARIABLE << tk.KIND_SHIFT | i) for i, name in enumerate(vocabulary.variables)
        }
        self._literals = {
            value: self._move(tk.LITERAL << tk.KIND_SHIFT | i) | self._constant
            for i, value in enumerate(vocabulary.literals)
        }

    def accepts(self, program: Program, symbol: int) -> bool:
        """Return whether the symbol derives exactly this tree; a literal also matches a constant of a rule."""
        words = program.vocabulary
        sets: list[int] = []
        for token in reversed(program.tokens):
            match token >> tk.KIND_SHIFT:
                case tk.VARIABLE:
                    states = self._variables.get(words.variables[token & tk.PAYLOAD_MASK], 0)
                case tk.LITERAL:
                    states = self._number(words.literals[token & tk.PAYLOAD_MASK])
                case tk.CONSTANT:
                    states = self._constant
                case _:
                    arguments = [sets.pop() for _ in range(words.arity_of(token))]
                    states = self._move(self._own_token(token, words), *arguments)
            if not states:
                return False
            sets.append(states)
        return bool(sets.pop() >> symbol & 1)

    def accepts_template(self, tokens: Sequence[int], symbol: int) -> bool:
        """Return whether the symbol derives this tree of the grammar's own tokens, whose leaves may be symbols."""
        sets: list[int] = []
        for token in reversed(tokens):
            if token >> tk.KIND_SHIFT == tk.SYMBOL:
                states = self._holds[token & tk.PAYLOAD_MASK]
            else:
                states = self._move(token, *(sets.pop() for _ in range(self._vocabulary.arity_of(token))))
            sets.append(states)
        return bool(sets.pop() >> symbol & 1)

    def accepts_spelling(self, program: Program, symbol: int) -> bool:
        """Return whether the symbol derives this tree or one that prints alike, such as `x - 2` for `x + -2`."""
        words = program.vocabulary
        spellings: list[_Spelling] = []
        for token in reversed(program.tokens):
            match token >> tk.KIND_SHIFT:
                case tk.VARIABLE:
                    spelling = self._spell(self._variables.get(words.variables[token & tk.PAYLOAD_MASK], 0))
                case tk.LITERAL:
                    spelling = self._spell_number(words.literals[token & tk.PAYLOAD_MASK])
                case tk.CONSTANT:
                    spelling = self._spell(self._constant)
                case _:
                    arguments = [spellings.pop() for _ in range(words.arity_of(token))]
                    spelling = self._spell_operator(self._own_token(token, words), arguments)
            spellings.append(self._with_double_minus(spelling))
        return bool(spellings.pop().states >> symbol & 1)

    def _state_of(self, tokens: tuple[int, ...]) -> int:
        """Return the state of a template, and number the states of its subtrees."""
        found: list[int] = []
        for token in reversed(tokens):
            if token >> tk.KIND_SHIFT == tk.SYMBOL:
                found.append(token & tk.PAYLOAD_MASK)
                continue
            arguments = [found.pop() for _ in range(self._vocabulary.arity_of(token))]
            found.append(self._states.setdefault((token, *arguments), self._n_symbols + len(self._states)))
        return found.pop()

    def _close(self, roots: list[tuple[int, int]]) -> list[int]:
        """Return for each state the set that a tree in it is in: itself, and all symbols that derive it."""
        derived_by: dict[int, list[int]] = {}
        for symbol, state in roots:
            derived_by.setdefault(state, []).append(symbol)
        holds: list[int] = []
        for state in range(self._n_symbols + len(self._states)):
            states, todo = 1 << state, [state]
            while todo:
                for symbol in derived_by.get(todo.pop(), ()):
                    if not states >> symbol & 1:
                        states |= 1 << symbol
                        todo.append(symbol)
            holds.append(states)
        return holds

    def states_of(self, token: int, *arguments: int) -> int:
        """Return the states of a node from its token and the states of its arguments; 0 if no rule has such a node."""
        return self._move(token, *arguments)

    def _move(self, token: int, *arguments: int) -> int:
        """Return the states of a node from its token and the states of its arguments."""
        key = (token, *arguments)
        if key not in self._known:
            states = 0
            for wanted, gained in self._moves.get(token, ()):
                if all(have >> want & 1 for have, want in zip(arguments, wanted, strict=True)):
                    states |= gained
            self._known[key] = states
        return self._known[key]

    def _number(self, value: float) -> int:
        return self._literals.get(value, self._constant)

    def _own_token(self, token: int, words: Vocabulary) -> int:
        """Return this grammar's token for an operator of another vocabulary, or -1 if it has none."""
        if token < tk.USER_UNARY or token >> tk.KIND_SHIFT != tk.OPERATOR or words.own == self._vocabulary.own:
            return token
        operator = words.operator_of(token)
        return self._vocabulary.operator_token(operator) if operator in self._vocabulary.own else -1

    def _spell(self, states: int) -> _Spelling:
        return _Spelling(states, self._move(tk.NEG, states))

    def _with_double_minus(self, spelling: _Spelling) -> _Spelling:
        """Add the states of -(-tree): reading a text leaves double minus signs out."""
        states, negative = spelling.states, spelling.negative
        while (more := states | self._move(tk.NEG, negative | self._move(tk.NEG, states))) != states:
            states = more
        return spelling._replace(states=states, negative=negative | self._move(tk.NEG, states))

    def _spell_number(self, value: float) -> _Spelling:
        same, opposite = self._number(value), self._number(-value)
        states = same | self._move(tk.NEG, opposite)
        return _Spelling(states, opposite | self._move(tk.NEG, states), value)

    def _spell_operator(self, token: int, arguments: list[_Spelling]) -> _Spelling:
        states = self._move(token, *(argument.states for argument in arguments))
        first, last = arguments[0], arguments[-1]
        exponent = exponent_of(token)
        if exponent is not None:
            states |= self._move(tk.POW, first.states, self._spell_number(exponent).states)
        if token == tk.INV:
            states |= self._move(tk.DIV, self._spell_number(1.0).states, first.states)
        if token == tk.DIV and first.number == 1:
            states |= self._move(tk.INV, last.states)
            states |= self._move(tk.POW, last.states, self._spell_number(-1.0).states)
        if token in _OPPOSITE:
            states |= self._move(_OPPOSITE[token], first.states, last.negative)
        negative = self._move(tk.NEG, states)
        if token == tk.NEG:
            negative |= first.states
        if token in (tk.MUL, tk.DIV):
            negative |= self._move(token, first.negative, last.states)
        return _Spelling(states, negative)
