"""What `spl fit`, `spl resume` and `spl show` print of a table with groups: one law, with the numbers of each group.

Slow imports are inside the functions, so that `spl --help` answers at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from spl.cli.options import open_console

if TYPE_CHECKING:
    from spl.data.dataset import Dataset
    from spl.data.groupings import Grouping
    from spl.formulas.own_numbers import OwnNumber
    from spl.groups.numbers import KnownJointNumber
    from spl.regression.discover import Discovery
    from spl.regression.request import RegressionRequest


@dataclass(frozen=True, slots=True, eq=False)
class GroupedResult:
    """What was found for a table with groups, and the chosen row of its front."""

    found: "Discovery"
    chosen: int
    data: "Dataset"
    groupings: "Sequence[Grouping]"
    target: str
    given: tuple[float, ...] = ()  # numbers of the grammar, which are exact

    @classmethod
    def of(cls, found: "Discovery", chosen: int, request: "RegressionRequest") -> "GroupedResult":
        """Return what a search found."""
        given = tuple(request.grammar.vocabulary.literals)
        return cls(found, chosen, request.data, request.groupings, request.target, given)

    @property
    def own(self) -> "tuple[OwnNumber, ...]":
        """The numbers that each group has for itself in the chosen formula."""
        from spl.groups.own_rows import own_of

        return own_of(self.found.front[self.chosen])

    @property
    def numbers(self) -> "list[KnownJointNumber]":
        """The numbers of the chosen formula, shared and own, with their standard errors."""
        from spl.groups.own_rows import know_numbers_of
        from spl.noise.models import NOISE_MODELS, NORMAL

        model = NOISE_MODELS[self.found.noise.name]
        is_plain = model is NORMAL and self.data.sigma is None
        rows = replace(self.data, noise=None if is_plain else model)
        return know_numbers_of(self.found.front[self.chosen], rows, self.groupings, self.given)

    @property
    def r2(self) -> float | None:
        """R2 of the chosen formula; None if the target is constant."""
        from spl.groups.own_rows import with_group_columns
        from spl.regression.explained_share import share_explained

        return share_explained(
            self.found.front[self.chosen].program, with_group_columns(self.data, self.groupings, self.own)
        )


def print_grouped_result(result: GroupedResult) -> None:
    """Print the front, the equation, its own numbers and a summary."""
    from spl.display.noise import noise_line
    from spl.display.results import found_rows, print_equation, print_front, print_lines, summary_line

    console, found, chosen = open_console(), result.found, result.chosen
    print_lines(console, [""])
    print_front(console, found_rows(found, chosen))
    print_lines(console, [""])
    print_equation(console, result.target, found.front, chosen)
    print_lines(console, lines_of_groups(result))
    print_lines(console, ["", *filter(None, [noise_line(found.noise, result.data)]), summary_line(found, result.r2)])


def lines_of_groups(result: GroupedResult) -> list[str]:
    """Return the own numbers of the chosen formula; if it has none, a line that says so."""
    from spl.display.numbers import NUMBERS_HEADING, number_lines
    from spl.display.own_numbers import own_number_lines
    from spl.groups.own_rows import errors_of_groups

    names = " and ".join(f"'{grouping.name}'" for grouping in result.groupings)
    numbers = result.numbers
    shared = number_lines([number for number in numbers if not number.name])
    own = own_number_lines(result.own, errors_of_groups(numbers))
    return [
        *(["", NUMBERS_HEADING, *shared] if shared else []),
        "",
        *(own or [f"All numbers are the same for all groups of {names}."]),
    ]


def describe_grouped(result: GroupedResult) -> dict[str, Any]:
    """Return the chosen formula with its own numbers as `--json` prints them; numbers that JSON cannot represent are null."""
    from spl.display.noise import plain_noise
    from spl.display.results import front_rows
    from spl.notation.latex import to_latex
    from spl.notation.to_sympy import to_sympy

    found = result.found
    rows = front_rows(found.front, result.chosen, found.floor, digits=None)
    row, program = rows[result.chosen], found.front[result.chosen].program
    return {
        "target": result.target,
        "equation": row.equation,
        "sympy": str(to_sympy(program)),
        "latex": to_latex(program),
        "loss": row.loss,
        "r2": result.r2,
        "cost": row.cost,
        **describe_groups(result),
        "front": [
            {"cost": each.cost, "loss": each.loss, "score": each.score, "equation": each.equation} for each in rows
        ],
        "noise": plain_noise(found.noise),
        "seconds": found.seconds,
        "evaluations": found.n_evaluations,
        "stopped": found.stopped,
        "notes": list(found.notes),
    }


def describe_groups(result: GroupedResult) -> dict[str, Any]:
    """Return the groupings, and the own numbers of the chosen formula."""
    from spl.display.numbers import describe_known_numbers
    from spl.display.own_numbers import describe_own_numbers
    from spl.groups.own_rows import errors_of_groups

    numbers = result.numbers
    return {
        "numbers": describe_known_numbers([number for number in numbers if not number.name]),
        "groupings": [{"name": grouping.name, "groups": grouping.n_groups} for grouping in result.groupings],
        "own_numbers": describe_own_numbers(result.own, errors_of_groups(numbers)),
    }
