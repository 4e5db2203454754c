"""Reasons to doubt what a search found, in words for people."""

from spl.data import Dataset
from spl.front import Front
from spl.kernels import tokens as tk

UNEXPLAINED = "The columns do not explain the target: a constant describes it best."


def find_doubts(front: Front, data: Dataset, floor: float) -> tuple[str, ...]:
    """Return why the formula that the default rule chooses from a front may not be the answer; nothing if there is no reason.

    Examples:
        >>> from spl.candidate import Candidate
        >>> from spl.expression import parse_expression
        >>> from spl.program import Vocabulary
        >>> data = Dataset.from_arrays([[1.0], [2.0], [3.0]], [0.4, 0.1, 0.3], names=["x"])
        >>> constant = Candidate(parse_expression("C", Vocabulary(("x",))).with_constants([0.27]), loss=0.12)
        >>> find_doubts(Front((constant,)), data, floor=0.0)
        ('The columns do not explain the target: a constant describes it best.',)
    """
    if not len(front):
        return ()
    chosen = front[front.choose("mdl", data.n_rows, floor)]
    has_variable = any(token >> tk.KIND_SHIFT == tk.VARIABLE for token in chosen.program.tokens)
    return () if has_variable or chosen.loss <= floor else (UNEXPLAINED,)
