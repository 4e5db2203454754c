"""Programs and grammars as plain values, the kind that JSON knows, and back, bit for bit.

What is read may come from a stranger: it is checked here, and nobody further down checks it again. An operator of the user's own is a
function of theirs, which no file holds: it is named, and whoever reads the name gives the function again.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spl.errors import RunFileError
from spl.grammar import Grammar, Rule
from spl.kernels import tokens as tk
from spl.operators import BY_OPCODE, Operator
from spl.program import Program, Vocabulary

Plain = Mapping[str, Any]


# ---- there ---------------------------------------------------------------------------------------


def program_as_plain(program: Program) -> dict[str, Any]:
    """Return the tokens and numbers of a program."""
    return {
        "tokens": list(program.tokens),
        "constants": list(program.constants),
        "literals": list(program.vocabulary.literals),
    }


def grammar_as_plain(grammar: Grammar) -> dict[str, Any]:
    """Return the symbols, rules and words of a grammar."""
    words = grammar.vocabulary
    return {
        "symbols": list(grammar.symbols),
        "rules": [[rule.symbol, list(rule.tokens), rule.text] for rule in grammar.rules],
        "variables": list(words.variables),
        "literals": list(words.literals),
        "own": [{"name": row.name, "arity": row.arity, "cost": row.cost} for row in words.own],
    }


# ---- and back ------------------------------------------------------------------------------------


def grammar_from_plain(plain: Plain, own: Sequence[Operator] = ()) -> Grammar:
    """Return the grammar; operators of the user's own that are not given have a stand-in, which prints but has no value."""
    given = {operator.name: operator for operator in own}
    words = Vocabulary(
        variables=_texts(plain["variables"]),
        literals=_numbers(plain["literals"]),
        own=tuple(_find_own(row, given) for row in plain["own"]),
    )
    symbols = _texts(plain["symbols"])
    rules = tuple(
        Rule(_count(symbol, len(symbols)), _tokens(tokens, words, len(symbols)), str(text))
        for symbol, tokens, text in plain["rules"]
    )
    return Grammar(symbols, rules, words)


def program_from_plain(plain: Plain, words: Vocabulary) -> Program:
    """Return the program over the columns and operators of a vocabulary; it has literal numbers of its own."""
    words = Vocabulary(words.variables, _numbers(plain["literals"]), words.own)
    return Program(_tokens(plain["tokens"], words), words, _numbers(plain["constants"]))


def check_no_stand_ins(grammar: Grammar) -> None:
    """Raise a clear error if the grammar has operators whose functions were not given."""
    missing = [operator.name for operator in grammar.vocabulary.own if isinstance(operator, _StandIn)]
    if missing:
        raise RunFileError(
            f"The run uses '{missing[0]}', an operator of your own; its function is in no file. Give it again, from Python: "
            f"SPLRegressor.from_run(path, operators=[{', '.join(missing)}])."
        )


def _find_own(row: Plain, given: Mapping[str, Operator]) -> Operator:
    operator = given.get(row["name"])
    if operator is None:
        return _StandIn(row["name"], _STAND_INS[row["arity"]], cost=row["cost"])
    if (operator.arity, operator.cost) != (row["arity"], row["cost"]):
        raise RunFileError(
            f"Operator '{operator.name}' takes {operator.arity} argument(s) and costs {operator.cost}; when the run began it "
            f"took {row['arity']} and cost {row['cost']}. Give the same one."
        )
    return operator


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _StandIn(Operator):
    """An operator whose function was not given."""

    def _check_function(self) -> None:
        """Let it be: it is never called."""


def _has_no_value(a: Any) -> Any:
    raise NotImplementedError


def _has_no_value_of_two(a: Any, b: Any) -> Any:
    raise NotImplementedError


_STAND_INS: dict[int, Callable[..., Any]] = {1: _has_no_value, 2: _has_no_value_of_two}


def _texts(values: Any) -> tuple[str, ...]:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ValueError(f"{values!r} is no list of names")
    return tuple(values)


def _numbers(values: Any) -> tuple[float, ...]:
    numbers = tuple(float(value) for value in values)
    if not all(map(math.isfinite, numbers)):
        raise ValueError(f"{values!r} are not all finite")
    return numbers


def _count(value: Any, below: int) -> int:
    if type(value) is not int or not 0 <= value < below:
        raise ValueError(f"{value!r} is no number from 0 to {below - 1}")
    return value


def _tokens(values: Any, words: Vocabulary, n_symbols: int = 0) -> tuple[int, ...]:
    """Return tokens that all stand for something."""
    n_known = {
        tk.POWER: tk.PAYLOAD_MASK + 1,
        tk.VARIABLE: len(words.variables),
        tk.CONSTANT: 1,
        tk.LITERAL: len(words.literals),
        tk.SYMBOL: n_symbols,
    }
    if len(values) > tk.MAX_LENGTH:
        raise ValueError(f"a formula of {len(values)} tokens is longer than {tk.MAX_LENGTH}")
    operators = set(BY_OPCODE) | {words.operator_token(operator) for operator in words.own}
    for token in values:
        kind = _count(token, (tk.SYMBOL + 1) << tk.KIND_SHIFT) >> tk.KIND_SHIFT
        is_known = token in operators if kind == tk.OPERATOR else token & tk.PAYLOAD_MASK < n_known[kind]
        if not is_known:
            raise ValueError(f"token {token} stands for nothing")
    return tuple(values)
