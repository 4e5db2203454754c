"""What is known of a law, as one noun; and its judge, which says for a formula which statements are proved, checked or broken."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.errors import KnowledgeError, show_value
from spl.formulas.program import Program
from spl.knowledge.box import Box, check_bounds
from spl.knowledge.checks import Check, make_checks
from spl.knowledge.proofs import is_proved
from spl.knowledge.reading import read_statement
from spl.knowledge.statements import Statement

Status = Literal["proved", "checked", "broken"]

MAX_STATEMENTS = 50
_REMEMBERED = 20_000  # formulas whose first breach is remembered


class Verdict(NamedTuple):
    """Whether a formula keeps a statement.

    `margin` says how far it stays from breaking it, where that is least: a value, a slope or a curvature; for an equality, 0 or the
    negative of how far it is off. NaN if the formula is undefined there.
    """

    statement: str
    status: Status
    margin: float
    where: tuple[tuple[str, float], ...]  # the values of the columns there


@dataclass(frozen=True, slots=True)
class Knowledge:
    """Statements about the shape of a law, and bounds of columns, if they hold beyond the data.

    Examples:
        >>> known = Knowledge.read(["f > 0", "increasing in x"], columns=["x"], bounds={"x": (0, 10)})
        >>> [statement.text for statement in known.statements]
        ['f > 0', 'increasing in x']
    """

    statements: tuple[Statement, ...]
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @classmethod
    def read(cls, texts: object, columns: Sequence[str], target: str = "y", bounds: Any = None) -> "Knowledge":
        """Return the knowledge that texts express; raise a clear error if one of them cannot be read.

        Args:
            texts: the statements.
            columns: the columns of the table.
            target: the name of the target, by which statements may call the formula.
            bounds: two numbers for each column in which the statements hold beyond the data, or in a part of it.
        """
        if isinstance(texts, str) or not isinstance(texts, Sequence):
            raise KnowledgeError(
                f'`knowledge` must be a list of statements, such as ["f > 0", "increasing in x"]; got {show_value(texts)}.'
            )
        if len(texts) > MAX_STATEMENTS:
            raise KnowledgeError(
                f"There are {len(texts)} statements; at most {MAX_STATEMENTS} are possible. Leave some out."
            )
        statements = tuple(read_statement(text, columns, target) for text in texts)
        checked = check_bounds(bounds, columns)
        if checked and not statements:
            raise KnowledgeError(
                "There are bounds, but no statements that hold in them. Add `knowledge`, or leave them out."
            )
        return cls(statements, checked)

    @property
    def texts(self) -> tuple[str, ...]:
        """The statements as they were written."""
        return tuple(statement.text for statement in self.statements)


class Judge:
    """Knows the statements, the box in which they hold, and the points at which formulas are tried.

    Examples:
        >>> from spl.formulas.program import Vocabulary
        >>> from spl.formulas.text import parse_expression
        >>> data = Dataset.from_arrays([[1.0], [2.0], [4.0]], [1.0, 4.0, 16.0], names=["x"])
        >>> judge = Judge(Knowledge.read(["increasing in x", "f > 2"], data.names), data)
        >>> for verdict in judge.judge(parse_expression("x**2", Vocabulary(("x",)))):
        ...     print(verdict.statement, verdict.status, round(verdict.margin, 3), verdict.where)
        increasing in x proved 2.0 (('x', 1.0),)
        f > 2 broken -1.0 (('x', 1.0),)
    """

    def __init__(self, knowledge: Knowledge, data: Dataset) -> None:
        self.knowledge = knowledge
        rows = data.columns[:, data.weights > 0]
        self.size = float(np.max(np.abs(data.target[data.weights > 0]))) or 1.0
        self.box = Box.of(data, knowledge.bounds)
        self.checks: tuple[tuple[Check, ...], ...] = tuple(
            make_checks(statement, self.box, rows, self.size) for statement in knowledge.statements
        )
        self._first_broken = lru_cache(_REMEMBERED)(self._find_broken)

    def find_broken(self, program: Program) -> int | None:
        """Return the place of a statement that a formula breaks at one of the points; None if it keeps all."""
        return self._first_broken(program)

    def list_broken(self, program: Program) -> list[int]:
        """Return the places of all statements that a formula breaks at the first few points."""
        return [k for k, some in enumerate(self.checks) if any(each.is_broken(program, is_quick=True) for each in some)]

    def _find_broken(self, program: Program) -> int | None:
        for is_quick in (True, False):
            for k, checks in enumerate(self.checks):
                if any(check.is_broken(program, is_quick=is_quick) for check in checks):
                    return k
        return None

    def judge(self, program: Program) -> tuple[Verdict, ...]:
        """Return for each statement whether a formula keeps it, with the worst margin and where that is."""
        return tuple(
            self._judge_one(statement, checks, program)
            for statement, checks in zip(self.knowledge.statements, self.checks, strict=True)
        )

    def _judge_one(self, statement: Statement, checks: Sequence[Check], program: Program) -> Verdict:
        tried = [(check, check.margins(program)) for check in checks]
        broken = [(check, margins) for check, margins in tried if check.breaches(margins).any()]
        if broken:
            return self._verdict(statement, "broken", *broken[0])
        status: Status = "proved" if is_proved(statement, program, self.box, self.size) else "checked"
        telling = [(check, margins) for check, margins in tried if not np.isnan(margins).all()]
        by_margin = min(telling or tried, key=lambda pair: float(np.nanmin(pair[1], initial=np.inf)))
        return self._verdict(statement, status, *by_margin)

    def _verdict(self, statement: Statement, status: Status, check: Check, margins: NDArray[np.float64]) -> Verdict:
        if status == "broken":
            worst = int(np.argmin(np.where(check.breaches(margins), np.nan_to_num(margins, nan=-np.inf), np.inf)))
        else:
            worst = int(np.argmin(np.where(np.isnan(margins), np.inf, margins)))
        place = check.points[:, worst]
        margin = float(margins[worst])
        return Verdict(
            statement.text,
            status,
            0.0 if margin == 0 else margin,
            tuple((name, float(value)) for name, value in zip(self.box.names, place, strict=True)),
        )
