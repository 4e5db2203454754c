"""What people should know about groups: which are too small for numbers of their own, and whether groups matter at all."""

from collections.abc import Iterator

from spl.errors import count_noun
from spl.groups.formula import GroupedCandidate
from spl.groups.rows import GroupedRows

MAX_NAMED = 5


def note_groups(chosen: GroupedCandidate, rows: GroupedRows) -> Iterator[str]:
    """Yield what is worth saying about the groups."""
    for grouping in rows.groupings:
        counts = grouping.count_rows()
        n_own = sum(number.grouping == grouping.name for number in chosen.own)
        if not n_own:
            yield f"No number of the formula depends on '{grouping.name}': all its groups follow one law with the same numbers."
            continue
        few = [label for label, count in zip(grouping.labels, counts, strict=True) if 0 < count < n_own]
        if few:
            named = ", ".join(few[:MAX_NAMED]) + (f", and {len(few) - MAX_NAMED} more" if len(few) > MAX_NAMED else "")
            yield (
                f"{count_noun(len(few), 'group')} of '{grouping.name}' {'has' if len(few) == 1 else 'have'} fewer rows than own "
                f"numbers ({n_own}), which the data does not determine there: {named}."
            )
