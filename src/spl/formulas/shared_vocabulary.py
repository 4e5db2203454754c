"""One vocabulary for several programs: they may have different literals and operators of the user."""

from collections.abc import Sequence
from dataclasses import replace

from spl.formulas.program import Program, Vocabulary
from spl.kernels.programs import tokens as tk


def merge_vocabularies(vocabularies: Sequence[Vocabulary]) -> Vocabulary:
    """Return a vocabulary with the literals and operators of all; their variables must be the same.

    Examples:
        >>> merge_vocabularies([Vocabulary(("x",), (1.0,)), Vocabulary(("x",), (2.0, 1.0))]).literals
        (1.0, 2.0)
    """
    literals = dict.fromkeys(number for words in vocabularies for number in words.literals)
    own = dict.fromkeys(operator for words in vocabularies for operator in words.own)
    return Vocabulary(vocabularies[0].variables, tuple(literals), tuple(own))


def translate(program: Program, target: Vocabulary) -> Program:
    """Return the same program in a vocabulary that has all of its literals and operators.

    Examples:
        >>> program = Program((Vocabulary((), (2.0,)).literal_token(2.0),), Vocabulary((), (2.0,)))
        >>> translate(program, Vocabulary((), (1.0, 2.0)))
        Program('2')
    """
    words = program.vocabulary
    tokens = tuple(_translate_token(token, words, target) for token in program.tokens)
    return replace(program, tokens=tokens, vocabulary=target)


def _translate_token(token: int, words: Vocabulary, target: Vocabulary) -> int:
    """Return the token that means in the target vocabulary what `token` means in `words`."""
    kind = token >> tk.KIND_SHIFT
    if kind == tk.LITERAL:
        return target.literal_token(words.literals[token & tk.PAYLOAD_MASK])
    if kind == tk.OPERATOR and token >= tk.USER_UNARY:
        return target.operator_token(words.operator_of(token))
    return token
