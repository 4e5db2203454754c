"""Checks statements about the shape of a law while the user types, one per line: how many there are, or what is wrong and where."""

from collections.abc import Sequence
from typing import Any

from spl.errors import KnowledgeError, count_noun
from spl.knowledge.knowledge import MAX_STATEMENTS
from spl.knowledge.reading import read_statement


def split_statements(text: str) -> tuple[str, ...]:
    """Return the statements of a text, one per line; empty lines are left out.

    Examples:
        >>> split_statements("f > 0\\n\\n even in x ")
        ('f > 0', 'even in x')
    """
    return tuple(line.strip() for line in text.splitlines() if line.strip())


def check_statements(text: str, columns: Sequence[str], target: str) -> dict[str, Any]:
    """Return how many statements there are, or the message and the place of the first mistake.

    Examples:
        >>> check_statements("f > 0\\nincreasing in x", ["x"], "y")
        {'is_right': True, 'explanation': '2 statements'}
        >>> wrong = check_statements("f > 0\\nincreasing in z", ["x"], "y")
        >>> wrong["message"], wrong["line"], wrong["column"]
        ("There is no column 'z'. Columns: x.", 2, 15)
    """
    n_statements = 0
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        n_statements += 1
        try:
            read_statement(line, columns, target)
        except KnowledgeError as error:
            message = str(error)
            if error.column is not None:
                message = message.partition(": ")[2].partition("\n")[0]
            return {"is_right": False, "message": message, "line": number, "column": error.column or 1}
    if n_statements > MAX_STATEMENTS:
        message = f"There are {n_statements} statements; at most {MAX_STATEMENTS} are possible. Leave some out."
        return {"is_right": False, "message": message, "line": None, "column": None}
    return {"is_right": True, "explanation": count_noun(n_statements, "statement") if n_statements else ""}
