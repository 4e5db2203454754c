"""Groupings of rows: by material, patient, experiment; each group may have numbers of its own.

`formulas/own_numbers` says what these numbers are.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spl.errors import DataError, count_noun, explain_unknown, shorten

MAX_GROUPS = 1_000  # of one grouping
MAX_GROUPINGS = 2  # of one table
MAX_NAMED = 5  # groups in a message


@dataclass(frozen=True, slots=True, eq=False)
class Grouping:
    """Which group each row belongs to.

    Examples:
        >>> Grouping.from_labels(["oak", "ash", "oak"], "wood").labels
        ('oak', 'ash')
    """

    name: str
    labels: tuple[str, ...]  # of the groups, in the order they first appear
    codes: NDArray[np.intp]  # [N], the place of each row's group among the labels

    @classmethod
    def from_labels(cls, values: ArrayLike, name: str = "group") -> "Grouping":
        """Return the grouping of rows by their labels [N]: text, numbers, booleans. Each row must have one."""
        texts = read_labels(values, name)
        places = {label: place for place, label in enumerate(dict.fromkeys(texts))}
        if len(places) > MAX_GROUPS:
            raise DataError(
                f"'{name}' has {len(places):,} groups. It may have up to {MAX_GROUPS:,}: join some of them."
            )
        return cls(name, tuple(places), np.array([places[text] for text in texts], dtype=np.intp))

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return len(self.labels)

    def count_rows(self) -> NDArray[np.intp]:
        """Return the number of rows of each group [G]."""
        return np.bincount(self.codes, minlength=self.n_groups)

    def take(self, rows: NDArray[np.intp]) -> "Grouping":
        """Return the grouping of these rows, in this order. All groups are kept, so that codes mean the same."""
        return Grouping(self.name, self.labels, self.codes[rows])

    def find_codes(self, values: ArrayLike) -> NDArray[np.intp]:
        """Return the codes of other rows by their labels [N]; a clear error names a label that is not known.

        Examples:
            >>> wood = Grouping.from_labels(["oak", "ash"], "wood")
            >>> wood.find_codes(["ash", "ash"])
            array([1, 1])
            >>> wood.find_codes(["aesh"])
            Traceback (most recent call last):
            ...
            spl.errors.DataError: 'wood' has no group 'aesh', in row 0. Did you mean 'ash'?
        """
        places = {label: place for place, label in enumerate(self.labels)}
        texts = read_labels(values, self.name)
        for row, text in enumerate(texts):
            if text not in places:
                raise DataError(explain_unknown_group(self.name, text, row, self.labels))
        return np.array([places[text] for text in texts], dtype=np.intp)


def explain_unknown_group(name: str, label: str, row: int, known: Sequence[str]) -> str:
    """Return a message about a group that is none of the known ones."""
    head = f"'{name}' has no group '{shorten(label)}', in row {row}. "
    hint = explain_unknown("group", label, known).partition(". ")[2]
    return head + hint


def read_labels(values: ArrayLike, name: str) -> list[str]:
    """Return the labels [N] as text; whole numbers are written alike, whatever their type. A missing label is an error.

    Examples:
        >>> read_labels([1.0, 2.0], "run"), read_labels(np.array([True, False]), "treated")
        (['1', '2'], ['True', 'False'])
    """
    array = np.asarray(values)
    if array.ndim != 1:
        raise DataError(f"The groups '{name}' must be one column of labels; their shape is {array.shape}.")
    texts = [_write_label(value) for value in array.tolist()]
    missing = [row for row, text in enumerate(texts) if text is None]
    if missing:
        raise DataError(
            f"The groups '{name}' have {count_noun(len(missing), 'missing label')}, the first in row {missing[0]}. "
            "Give each row a label, or leave these rows out."
        )
    return [text for text in texts if text is not None]


def _write_label(value: object) -> str | None:
    if value is None or value != value:  # NaN is not itself
        return None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip() or None


def group_complete_rows(
    labels: Mapping[str, NDArray[np.object_]], places: NDArray[np.intp], *, are_asked_for: bool = True
) -> tuple[tuple[Grouping, ...], list[str]]:
    """Return the groupings of the complete rows, and notes about groupings and groups that say nothing.

    A grouping all of whose groups have a single row is an error, or left out if nobody asked for it.

    Args:
        labels: of all rows [N], by the name of the grouping; None where missing.
        places: of the complete rows among all.
        are_asked_for: whether somebody named these groupings.

    Examples:
        >>> wood = np.array(["oak", "oak", "ash", "ash", "elm"], dtype=object)
        >>> [grouping], notes = group_complete_rows({"wood": wood}, np.arange(4))
        >>> grouping.labels, notes
        (('oak', 'ash'), ["1 group of 'wood' has no complete row, and no numbers: 'elm'."])
    """
    groupings, notes = [], []
    for name, texts in labels.items():
        grouping = Grouping.from_labels(texts[places], name)
        lost = [label for label in dict.fromkeys(texts) if label is not None and label not in grouping.labels]
        if lost:
            named = ", ".join(f"'{shorten(label)}'" for label in lost[:MAX_NAMED])
            more = f", and {len(lost) - MAX_NAMED:,} more" if len(lost) > MAX_NAMED else ""
            verb = "has" if len(lost) == 1 else "have"
            notes.append(
                f"{count_noun(len(lost), 'group')} of '{name}' {verb} no complete row, and no numbers: {named}{more}."
            )
        if grouping.n_groups == 1:
            notes.append(f"All rows belong to one group of '{name}' ('{grouping.labels[0]}'): its numbers are shared.")
            continue
        if grouping.count_rows().max() == 1 and not are_asked_for:
            notes.append(f"Each group of '{name}' has only one complete row, so it is no grouping.")
            continue
        if grouping.count_rows().max() == 1:
            raise DataError(
                f"Each of the {grouping.n_groups:,} groups of '{name}' has only one row: it cannot have numbers of its own. "
                "Give groups with at least 2 rows, or fit without groups."
            )
        groupings.append(grouping)
    return tuple(groupings), notes


def count_groups(groupings: Iterable[Grouping]) -> int:
    """Return the number of groups of all groupings together."""
    return sum(grouping.n_groups for grouping in groupings)
