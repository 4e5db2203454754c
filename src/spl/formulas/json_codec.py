"""Programs and grammars as values for JSON, and back, bit for bit.

Input may come from anyone: it is checked here, `Damage` says what is wrong, and nobody checks it again later. A file holds only the
name of a user's own operator; whoever reads the file provides the function again.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spl.checked_values import Damage, as_fields, as_finite, as_list, as_text, as_texts, as_whole
from spl.errors import RunFileError
from spl.formulas.grammar import Grammar, Rule
from spl.formulas.operators import BY_OPCODE, Operator
from spl.formulas.program import Program, Vocabulary
from spl.kernels.programs import tokens as tk

# ---- encoding ------------------------------------------------------------------------------------


def encode_program(program: Program) -> dict[str, Any]:
    """Return the tokens and numbers of a program."""
    return {
        "tokens": list(program.tokens),
        "constants": list(program.constants),
        "literals": list(program.vocabulary.literals),
    }


def encode_grammar(grammar: Grammar) -> dict[str, Any]:
    """Return the symbols, rules and words of a grammar."""
    words = grammar.vocabulary
    return {
        "symbols": list(grammar.symbols),
        "rules": [[rule.symbol, list(rule.tokens), rule.text] for rule in grammar.rules],
        "variables": list(words.variables),
        "literals": list(words.literals),
        "own": [{"name": row.name, "arity": row.arity, "cost": row.cost} for row in words.own],
    }


# ---- decoding ------------------------------------------------------------------------------------


def decode_grammar(encoded: object, own: Sequence[Operator] = ()) -> Grammar:
    """Return the grammar. User operators that are not given get a stand-in, which prints but has no values."""
    given = {operator.name: operator for operator in own}
    fields = as_fields(encoded)
    words = Vocabulary(
        variables=as_texts(fields["variables"]),
        literals=_numbers(fields["literals"]),
        own=tuple(_find_own(row, given) for row in as_list(fields["own"])),
    )
    symbols = as_texts(fields["symbols"])
    return Grammar(symbols, tuple(_rule(row, words, len(symbols)) for row in as_list(fields["rules"])), words)


def decode_program(encoded: object, words: Vocabulary) -> Program:
    """Return the program over the columns and operators of a vocabulary; its literals come from the input."""
    fields = as_fields(encoded)
    words = Vocabulary(words.variables, _numbers(fields["literals"]), words.own)
    return Program(_tokens(fields["tokens"], words), words, _numbers(fields["constants"]))


def check_no_stand_ins(grammar: Grammar) -> None:
    """Raise a clear error if the grammar has operators whose functions were not given."""
    missing = [operator.name for operator in grammar.vocabulary.own if isinstance(operator, _StandIn)]
    if missing:
        raise RunFileError(
            f"The run uses '{missing[0]}', an operator of your own, whose function is not in the file. Give it again, from Python: "
            f"SPLRegressor.from_run(path, operators=[{', '.join(missing)}])."
        )


def _find_own(row: object, given: Mapping[str, Operator]) -> Operator:
    fields = as_fields(row)
    name, arity, cost = as_text(fields["name"]), as_whole(fields["arity"]), as_whole(fields["cost"])
    if arity not in _STAND_INS:
        raise Damage(f"an operator takes {arity} arguments")
    operator = given.get(name)
    if operator is None:
        return _StandIn(name, _STAND_INS[arity], cost=cost)
    if (operator.arity, operator.cost) != (arity, cost):
        raise RunFileError(
            f"Operator '{operator.name}' takes {operator.arity} argument(s) and costs {operator.cost}; when the run began it "
            f"took {arity} and cost {cost}. Give the same one."
        )
    return operator


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _StandIn(Operator):
    """An operator whose function was not given."""

    def _check_function(self) -> None:
        """Accept it: it is never called."""


def _has_no_value(a: Any) -> Any:
    raise NotImplementedError


def _has_no_value_of_two(a: Any, b: Any) -> Any:
    raise NotImplementedError


_STAND_INS: dict[int, Callable[..., Any]] = {1: _has_no_value, 2: _has_no_value_of_two}


def _numbers(values: object) -> tuple[float, ...]:
    return tuple(as_finite(value) for value in as_list(values))


def _rule(row: object, words: Vocabulary, n_symbols: int) -> Rule:
    parts = as_list(row)
    if len(parts) != 3:
        raise Damage(f"a rule has {len(parts)} parts")
    symbol, tokens, text = parts
    return Rule(as_whole(symbol, n_symbols), _tokens(tokens, words, n_symbols), as_text(text))


def _tokens(values: object, words: Vocabulary, n_symbols: int = 0) -> tuple[int, ...]:
    """Return the tokens, each of which must be known."""
    n_known = {
        tk.POWER: tk.PAYLOAD_MASK + 1,
        tk.VARIABLE: len(words.variables),
        tk.CONSTANT: 1,
        tk.LITERAL: len(words.literals),
        tk.SYMBOL: n_symbols,
    }
    tokens = as_list(values)
    if len(tokens) > tk.MAX_PROGRAM_LENGTH:
        raise Damage(f"a formula of {len(tokens)} tokens is longer than {tk.MAX_PROGRAM_LENGTH}")
    operators = set(BY_OPCODE) | {words.operator_token(operator) for operator in words.own}
    for token in tokens:
        kind = as_whole(token, (tk.SYMBOL + 1) << tk.KIND_SHIFT) >> tk.KIND_SHIFT
        is_known = token in operators if kind == tk.OPERATOR else token & tk.PAYLOAD_MASK < n_known[kind]
        if not is_known:
            raise Damage(f"token {token} has no meaning")
    return tuple(tokens)
