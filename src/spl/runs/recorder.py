"""What is recorded during a search: its history, each improvement of its front, and the state to resume from."""

import json
import sqlite3
import time
from collections.abc import Callable
from dataclasses import asdict, fields

import numpy as np

from spl.formulas.json_codec import encode_program
from spl.formulas.text import to_text
from spl.kernels.tree.ledger import N_CLEARED, N_EPISODES
from spl.regression.checkpoint import Checkpoint, SearcherState, ViewCheckpoint, to_bytes
from spl.regression.discover import Discovery, Progress
from spl.regression.front import Front
from spl.regression.noise_choice import NoiseChoice
from spl.runs.groups import write_own_numbers

WRITE_SECONDS = 1.0  # between two writes within a round, at least
MOST_WRITING = 0.05  # share of the time of a round for writing
LEDGER_ARRAYS = ("places", "keys", "losses")  # of a searcher; they only grow, so only new entries are written

Write = Callable[[Callable[[sqlite3.Connection], None]], bool]  # in one transaction; returns whether it succeeded


class SearchKeeper:
    """Records one search of a run: after each round, and about once a second within a round."""

    def __init__(self, write: Write, search: int) -> None:
        self._write = write
        self._search = search
        self._front = Front(())
        self._n_rounds = -1
        self._ended = -np.inf  # when the last write did
        self._pause = WRITE_SECONDS
        self._stored: dict[int, SearcherState] = {}  # each tree as it was last written

    def __call__(self, progress: Progress, checkpoint: Callable[[], Checkpoint] | None, *, is_last: bool) -> None:
        """Write what is new, if it is time for that; without a checkpoint, the search cannot be continued, only repeated."""
        began = time.monotonic()
        is_due = progress.n_rounds != self._n_rounds or began - self._ended >= self._pause
        if not is_due and not is_last:
            return
        state = None if checkpoint is None else checkpoint()

        def write_all(connection: sqlite3.Connection) -> None:
            write_history(connection, self._search, progress)
            write_result(connection, self._search, _result_so_far(progress))
            write_improvements(connection, self._search, progress, self._front)
            if self._n_rounds < 0 or progress.front != self._front:
                write_front(connection, self._search, progress.front)
            if state is not None:
                self._write_checkpoint(connection, state)

        is_written = self._write(write_all)
        self._ended = time.monotonic()
        self._pause = max(WRITE_SECONDS, (self._ended - began) / MOST_WRITING)
        if is_written:
            self._front, self._n_rounds = progress.front, progress.n_rounds
            self._stored = {} if state is None else dict(enumerate(_all_searchers(state)))

    def _write_checkpoint(self, connection: sqlite3.Connection, state: Checkpoint) -> None:
        position = {
            "seconds": state.seconds,
            "n_entries": state.n_entries,
            "lead": state.lead,
            "views": [_view_facts(view) for view in state.views],
            "literals": state.literals,
        }
        arrays = to_bytes(
            {
                "front": np.concatenate([view.front for view in state.views]),
                "seen": np.concatenate([view.seen for view in state.views]),
                "weights": np.concatenate([view.weights for view in state.views]),
                "rivals": np.concatenate([view.rivals for view in state.views]),
            }
        )
        connection.execute("REPLACE INTO checkpoints VALUES (?, ?, ?)", (self._search, json.dumps(position), arrays))
        for tree, searcher in enumerate(_all_searchers(state)):
            names = [field.name for field in fields(SearcherState) if field.name not in LEDGER_ARRAYS]
            packed = to_bytes({name: getattr(searcher, name) for name in names})
            connection.execute("REPLACE INTO trees VALUES (?, ?, ?)", (self._search, tree, packed))
            self._write_ledger(connection, tree, searcher)

    def _write_ledger(self, connection: sqlite3.Connection, tree: int, searcher: SearcherState) -> None:
        """Add the programs that were tried or fitted again since the last time; all, if the ledger was cleared meanwhile."""
        stored = self._stored.get(tree)
        is_new = np.ones(searcher.places.size, np.bool_)
        if stored is not None and _is_same_ledger(stored, searcher):
            is_known = np.isin(
                searcher.places, stored.places, assume_unique=True
            )  # both are sorted, and no place is given up
            is_new[is_known] = searcher.losses[is_known] != stored.losses
        else:
            connection.execute("DELETE FROM ledgers WHERE search = ? AND tree = ?", (self._search, tree))
        if is_new.any():
            packed = to_bytes({name: getattr(searcher, name)[is_new] for name in LEDGER_ARRAYS})
            connection.execute(
                "INSERT INTO ledgers (search, tree, arrays) VALUES (?, ?, ?)", (self._search, tree, packed)
            )


def _all_searchers(state: Checkpoint) -> list[SearcherState]:
    return [searcher for view in state.views for searcher in view.searchers]


def _view_facts(view: ViewCheckpoint) -> dict[str, object]:
    """Return the numbers of a view, and how many entries of the arrays are its own."""
    return {
        "noise": view.noise,
        "columns": view.columns,
        "asked": view.asked,
        "n_restarts": view.n_restarts,
        "n_before": view.n_before,
        "schedule": view.schedule,
        "round": view.round,
        "segment": view.batch,  # its name in run files
        "episodes_at_exact": view.episodes_at_exact,
        "episodes_at_choice": view.episodes_at_choice,
        "n_front": int(view.front.size),
        "n_seen": int(view.seen.size),
        "n_weights": int(view.weights.size),
        "n_rivals": int(view.rivals.size),
        "n_trees": len(view.searchers),
    }


def _is_same_ledger(stored: SearcherState, now: SearcherState) -> bool:
    """Return whether a ledger has only grown since it was stored: it was neither cleared nor replaced by that of a new tree."""
    is_cleared = stored.totals[N_CLEARED] != now.totals[N_CLEARED]
    return not is_cleared and bool(stored.totals[N_EPISODES] <= now.totals[N_EPISODES]) and _has_all(stored, now)


def _has_all(stored: SearcherState, now: SearcherState) -> bool:
    places = np.searchsorted(now.places, stored.places)
    if stored.places.size and (now.places.size == 0 or places.max() >= now.places.size):
        return False
    same_places = np.array_equal(now.places[places], stored.places)
    return same_places and np.array_equal(now.keys[places], stored.keys)


def _result_so_far(progress: Progress) -> Discovery:
    return Discovery(
        front=progress.front,
        n_rows=progress.n_rows,
        floor=progress.floor,
        seconds=progress.seconds,
        n_episodes=progress.n_episodes,
        n_evaluations=progress.n_evaluations,
        stopped="",
        noise=NoiseChoice(progress.noise),
    )


def write_result(connection: sqlite3.Connection, search: int, found: Discovery) -> None:
    """Replace what was found, all but its front."""
    formulas = ("front", "rivals")
    numbers = {field.name: getattr(found, field.name) for field in fields(Discovery) if field.name not in formulas}
    numbers["noise"] = asdict(found.noise)
    numbers["held_out"] = None if found.held_out is None else asdict(found.held_out)
    connection.execute("UPDATE searches SET result = ? WHERE search = ?", (json.dumps(numbers), search))
    connection.execute("DELETE FROM rivals WHERE search = ?", (search,))
    rows = [
        (search, place, c.loss, c.reward, c.number_nats, to_text(c.program), json.dumps(encode_program(c.program)))
        for place, c in enumerate(found.rivals)
    ]
    connection.executemany("INSERT INTO rivals VALUES (?, ?, ?, ?, ?, ?, ?)", rows)


def write_front(connection: sqlite3.Connection, search: int, front: Front) -> None:
    """Replace the front, and delete the system that was chosen from the one before."""
    connection.execute("DELETE FROM facts WHERE name = 'system'")
    for table in ("front", "number_nats"):
        connection.execute(f"DELETE FROM {table} WHERE search = ?", (search,))
    rows = [
        (search, place, c.cost, c.loss, c.reward, to_text(c.program), json.dumps(encode_program(c.program)))
        for place, c in enumerate(front)
    ]
    connection.executemany("INSERT INTO front VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
    write_own_numbers(connection, search, front)
    nats = [(search, place, candidate.number_nats) for place, candidate in enumerate(front)]
    connection.executemany("INSERT INTO number_nats VALUES (?, ?, ?)", nats)


def write_improvements(connection: sqlite3.Connection, search: int, progress: Progress, before: Front) -> None:
    """Add the formulas that are new in the front."""
    known = {candidate.program for candidate in before}
    rows = [
        (search, progress.seconds, c.cost, c.loss, to_text(c.program)) for c in progress.front if c.program not in known
    ]
    statement = "INSERT INTO improvements (search, seconds, cost, loss, equation) VALUES (?, ?, ?, ?, ?)"
    connection.executemany(statement, rows)


def write_history(connection: sqlite3.Connection, search: int, progress: Progress) -> None:
    """Add how far the search is."""
    loss = progress.front[-1].loss if len(progress.front) else None
    row = (search, progress.seconds, progress.n_episodes, progress.n_evaluations, progress.n_rounds, loss)
    statement = "INSERT INTO history (search, seconds, episodes, evaluations, rounds, loss) VALUES (?, ?, ?, ?, ?, ?)"
    connection.execute(statement, row)
