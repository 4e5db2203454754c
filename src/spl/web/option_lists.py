"""Names in one option of a command."""

import csv
import io
from collections.abc import Sequence


def join_names(names: Sequence[str]) -> str:
    """Return names separated by commas, as commands read them: a name that contains a comma is quoted.

    Examples:
        >>> join_names(["x", "a,b"])
        'x,"a,b"'
    """
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(names)
    return line.getvalue()
