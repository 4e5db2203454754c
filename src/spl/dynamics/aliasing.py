"""Oscillations too fast for the samples: a sine that turns more than half a turn from one sample to the next is not a formula.

Such a sine takes any values at the samples, so it can fit what is not understood, and a slower one would fit as well.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spl.data.trajectories import Trajectories
from spl.dynamics.rows import SystemRows
from spl.formulas.program import Program
from spl.kernels.programs import tokens as tk
from spl.regression.fit import evaluate
from spl.regression.front import Front

HALF_TURN = np.pi
FAST_SHARE = 0.25  # of the steps between samples: if more of them turn a sine too far, it aliases


@dataclass(frozen=True, slots=True, eq=False)
class SampleSequence:
    """The columns of right-hand sides, sample by sample, one table [columns, N] per run; none for maps, which have no time between."""

    tables: tuple[NDArray[np.float64], ...]

    @classmethod
    def of(cls, data: Trajectories, rows: SystemRows, *, is_discrete: bool) -> "SampleSequence":
        """Return the sequence of the samples of all runs."""
        if is_discrete:
            return cls(())
        pairs = zip(rows.starts, data.runs, strict=True)
        return cls(tuple(np.ascontiguousarray(np.hstack([states, run.u]).T) for states, run in pairs))

    def is_too_fast(self, program: Program) -> bool:
        """Return whether a formula contains an oscillation that the samples cannot show.

        Examples:
            >>> from spl.formulas.program import Vocabulary
            >>> from spl.formulas.text import parse_expression
            >>> samples = SampleSequence((np.arange(20.0)[np.newaxis],))
            >>> [samples.is_too_fast(parse_expression(text, Vocabulary(("x",)))) for text in ("sin(2*x)", "sin(4*x)", "4*x")]
            [False, True, False]
        """
        return any(self._turns_too_far(program.part(argument)) for argument in _periodic_arguments(program))

    def leave_out_too_fast(self, front: Front) -> Front:
        """Return a front without formulas that the samples cannot show; the first one stays in any case."""
        kept = [candidate for k, candidate in enumerate(front) if k == 0 or not self.is_too_fast(candidate.program)]
        return Front(tuple(kept))

    def any_too_fast(self, programs: Sequence[Program]) -> bool:
        """Return whether any of several formulas is too fast."""
        return any(self.is_too_fast(program) for program in programs)

    def _turns_too_far(self, argument: Program) -> bool:
        if not self.tables or _uses_rates(argument, len(self.tables[0])):
            return False
        with np.errstate(all="ignore"):
            steps = np.concatenate([np.abs(np.diff(evaluate(argument, table))) for table in self.tables])
        return bool(np.mean(steps > HALF_TURN) > FAST_SHARE)


def _uses_rates(argument: Program, n_columns: int) -> bool:
    """Return whether a formula contains the rate of a state, which comes after the columns and is not sampled."""
    return any(
        token >> tk.KIND_SHIFT == tk.VARIABLE and token & tk.PAYLOAD_MASK >= n_columns for token in argument.tokens
    )


def _periodic_arguments(program: Program) -> list[int]:
    """Return the positions of the arguments of periodic functions."""
    return [
        program.arguments_of(position)[0]
        for position, token in enumerate(program.tokens)
        if token >> tk.KIND_SHIFT == tk.OPERATOR and program.vocabulary.operator_of(token).traits.is_periodic
    ]
