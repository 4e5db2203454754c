"""Reading from a run file where a search is, to continue it."""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import fields

import numpy as np

from spl.checked_values import (
    Damage,
    StoredFields,
    as_bytes,
    as_fields,
    as_finite,
    as_list,
    as_text,
    as_whole,
    load_json,
)
from spl.kernels.tree.ledger import RECORD
from spl.regression.checkpoint import Array, Checkpoint, SearcherState, ViewCheckpoint, from_bytes

_LEDGER = {"places": np.empty(0, np.uint32), "keys": np.empty(0, np.uint64), "losses": np.empty(0)}

_NO_RIVALS = {"rivals": np.empty(0, RECORD), "rival_lengths": np.empty(0)}  # of older runs


def read_checkpoint(connection: sqlite3.Connection, search: int) -> Checkpoint | None:
    """Return the checkpoint of a search; None if there is none yet."""
    row = connection.execute("SELECT position, arrays FROM checkpoints WHERE search = ?", (search,)).fetchone()
    if row is None:
        return None
    position, arrays = as_fields(load_json(row[0])), from_bytes(as_bytes(row[1]))
    trees = connection.execute("SELECT tree, arrays FROM trees WHERE search = ? ORDER BY tree", (search,)).fetchall()
    searchers = [_read_searcher(connection, search, tree, as_bytes(packed)) for tree, packed in trees]
    views = [as_fields(view) for view in as_list(position["views"])] if "views" in position else [position]
    return Checkpoint(
        n_entries=as_whole(position["n_entries"]),
        seconds=as_finite(position["seconds"]),
        lead=as_whole(position.get("lead", 0), len(views)),
        views=tuple(_read_views(views, arrays, searchers)),
        literals=tuple(as_finite(number) for number in as_list(position.get("literals", []))),
    )


def _read_views(
    views: Sequence[StoredFields], arrays: StoredFields, searchers: Sequence[SearcherState]
) -> Iterator[ViewCheckpoint]:
    """Yield the views of a search, each with its part of the arrays; older runs have one, which has all."""
    front, seen, weights = arrays["front"], arrays["seen"], arrays.get("weights", np.empty(0))
    rivals = arrays.get("rivals", _NO_RIVALS["rivals"])
    trees = list(searchers)
    for view in views:
        n_front = as_whole(view.get("n_front", front.size), front.size + 1)
        n_seen = as_whole(view.get("n_seen", seen.size), seen.size + 1)
        n_weights = as_whole(view.get("n_weights", weights.size), weights.size + 1)
        n_rivals = as_whole(view.get("n_rivals", 0), rivals.size + 1)
        n_trees = as_whole(view.get("n_trees", len(trees)), len(trees) + 1)
        before = [as_whole(count) for count in as_list(view.get("n_before", [0, 0]))]
        if len(before) != 2:
            raise Damage(f"there are {len(before)} counts in place of 2")
        at_exact = view["episodes_at_exact"]
        yield ViewCheckpoint(
            noise=as_text(view.get("noise", "normal")),
            weights=weights[:n_weights],
            columns=tuple(as_whole(column) for column in as_list(view.get("columns", []))),
            asked=tuple(as_whole(token) for token in as_list(view.get("asked", []))),
            n_restarts=as_whole(view.get("n_restarts", 0)),
            n_before=(before[0], before[1]),
            schedule=as_whole(view["schedule"]),
            round=as_whole(view["round"]),
            batch=as_whole(view["segment"]),  # its name in run files
            episodes_at_exact=None if at_exact is None else as_whole(at_exact),
            episodes_at_choice=as_whole(view.get("episodes_at_choice", 0)),
            front=front[:n_front],
            seen=seen[:n_seen],
            rivals=rivals[:n_rivals],
            searchers=tuple(trees[:n_trees]),
        )
        front, seen, weights, trees = front[n_front:], seen[n_seen:], weights[n_weights:], trees[n_trees:]
        rivals = rivals[n_rivals:]


def _read_searcher(connection: sqlite3.Connection, search: int, tree: int, packed: bytes) -> SearcherState:
    query = "SELECT arrays FROM ledgers WHERE search = ? AND tree = ? ORDER BY id"
    parts = [from_bytes(as_bytes(part)) for (part,) in connection.execute(query, (search, tree))]
    ledger = {name: np.concatenate([none, *(part[name] for part in parts)]) for name, none in _LEDGER.items()}
    if len({array.size for array in ledger.values()}) > 1:
        raise Damage("the parts of a ledger differ in length")
    _, last = np.unique(ledger["places"][::-1], return_index=True)  # a program that was fitted again appears again
    order = ledger["places"].size - 1 - last
    arrays = StoredFields(_NO_RIVALS | from_bytes(packed))
    others: dict[str, Array] = {
        field.name: arrays[field.name] for field in fields(SearcherState) if field.name not in _LEDGER
    }
    return SearcherState(**others, **{name: array[order] for name, array in ledger.items()})
