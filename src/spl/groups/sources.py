"""Where a grouped search takes structures from: searches that see the rows of one group, of all groups, or pooled targets.

Each source is an ordinary search with a small budget, which grows from round to round.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from spl.data.dataset import Dataset
from spl.errors import SplError
from spl.formulas.constant_slots import literals_to_constants
from spl.formulas.program import Program
from spl.formulas.text import CONSTANT_TOKEN
from spl.groups.pooling import BOTH, OFFSET, SCALE, pool_target
from spl.groups.rows import GroupedRows
from spl.kernels.programs import tokens as tk
from spl.noise.models import NORMAL
from spl.regression.discover import Discovery, discover
from spl.regression.request import RegressionRequest
from spl.settings import Limits

MIN_GROUP_ROWS = 8  # smaller groups are not searched by themselves
N_SINGLE_GROUPS = 6  # that are searched by themselves, by turns
FIRST_EVALUATIONS = 400  # of each search in the first round; twice as many in the next
MAX_PROPOSED = 60  # formulas of one search: its front, and the first of its rivals


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """Rows for an ordinary search, and what to make of its formulas."""

    name: str
    data: Dataset
    has_scale: bool = False  # whether a factor was taken out of the target
    has_offset: bool = False

    def structures(self, program: Program, derives: Callable[[Program], bool]) -> Iterator[Program]:
        """Yield what a formula for these rows proposes for all."""
        if not (self.has_scale or self.has_offset):
            yield program
            return
        free = literals_to_constants(program)
        if self.has_scale and self.has_offset:
            yield from filter(derives, (_add_number(_multiply(free)), _add_number(free), _multiply(free), free))
        else:
            yield from filter(derives, (_multiply(free) if self.has_scale else _add_number(free), free))


def _multiply(program: Program) -> Program:
    return Program((tk.MUL, CONSTANT_TOKEN, *program.tokens), program.vocabulary, (1.0, *program.constants))


def _add_number(program: Program) -> Program:
    return Program((tk.ADD, *program.tokens, CONSTANT_TOKEN), program.vocabulary, (*program.constants, 0.0))


def find_sources(rows: GroupedRows) -> list[Source]:
    """Return the sources of a table by turns: single groups, the largest first, pooled targets, and all rows as they are."""
    singles = []
    for place in range(len(rows.groupings)):
        parts = sorted(rows.parts(place), key=lambda part: -part.n_rows)
        singles += [
            part for part in parts[:N_SINGLE_GROUPS] if part.n_rows >= MIN_GROUP_ROWS and np.ptp(part.target) > 0
        ]
    pooled = []
    for kind in (SCALE, OFFSET, BOTH):
        for place in range(len(rows.groupings)):
            target = pool_target(rows, place, kind)
            if target is not None:
                pooled.append(Source(f"pooled {kind}", target, kind != OFFSET, kind != SCALE))
    found = [Source("all rows", rows.data)]
    for k in range(max(len(singles), len(pooled))):
        found += [Source("one group", singles[k])] if k < len(singles) else []
        found += [pooled[k]] if k < len(pooled) else []
    return found


def search_source(
    source: Source,
    request: RegressionRequest,
    budget: int,
    seconds: float | None,
    seed: int,
    must_stop: Callable[[], bool],
) -> tuple[list[Program], Discovery | None]:
    """Return the formulas that an ordinary search proposes, the best first."""
    noise = request.noise if source.name == "all rows" or isinstance(request.noise, str) else NORMAL
    limited = replace(
        request,
        data=replace(source.data, notes=()),
        noise=noise,
        limits=Limits(timeout=seconds, max_evaluations=budget),
        seed=seed,
        held_out=None,
        groupings=(),
        target_error=0.0,
    )
    try:
        found = discover(limited, must_stop=must_stop)
    except SplError:  # no formula stays inside its domain
        return [], None
    n_rows = source.data.n_rows
    chosen = found.front.choose("mdl", n_rows, found.floor)
    front = sorted(range(len(found.front)), key=lambda k: abs(k - chosen))
    programs = [found.front[k].program for k in front] + [each.program for each in found.rivals]
    return list({program.tokens: program for program in programs}.values())[:MAX_PROPOSED], found


def seed_of(request: RegressionRequest, turn: int) -> int:
    """Return the seed of a turn."""
    return int(np.random.SeedSequence([request.seed, turn]).generate_state(1)[0])
