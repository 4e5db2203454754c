import sqlite3
from contextlib import closing

import numpy as np
import pytest
from tests.run_examples import NO_LIMIT, RULES, make_config, make_data

from spl.formulas.grammar import Grammar
from spl.kernels.tree.ledger import N_CLEARED
from spl.regression.discover import discover
from spl.regression.request import RegressionRequest
from spl.runs.checkpoint_reader import read_checkpoint
from spl.runs.recorder import SearchKeeper
from spl.runs.sqlite_file import close_written, open_to_write, transaction
from spl.settings import Limits

pytestmark = pytest.mark.search


class Store:
    """A run file that can refuse to be written."""

    def __init__(self, path):
        self.connection = open_to_write(path)
        self.is_full = False

    def write(self, action):
        if self.is_full:
            return False
        with transaction(self.connection):
            action(self.connection)
        return True

    def count(self, table):
        return self.connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "run.spl")
    yield store
    close_written(store.connection)


@pytest.fixture(scope="module")
def looks():
    """What a keeper is told in a short search."""
    seen = []

    def keep(progress, checkpoint, *, is_last):
        seen.append((progress, checkpoint(), is_last))

    discover(
        RegressionRequest(make_data(), Grammar.from_text(RULES), config=make_config(2), limits=NO_LIMIT, seed=3),
        keep=keep,
    )
    return seen


def assert_same(one, two):
    assert (one.seconds, one.n_entries, one.lead) == (two.seconds, two.n_entries, two.lead)
    for view, other in zip(one.views, two.views, strict=True):
        for a, b in zip(view.searchers, other.searchers, strict=True):
            for name in a.__slots__:
                np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
        assert view.front.tobytes() == other.front.tobytes()
        np.testing.assert_array_equal(view.weights, other.weights)
        assert (view.noise, view.round, view.batch) == (other.noise, other.round, other.batch)


def test_every_checkpoint_comes_back_whole_though_only_what_is_new_is_written(store, looks, monkeypatch):
    monkeypatch.setattr("spl.runs.recorder.WRITE_SECONDS", 0.0)
    monkeypatch.setattr("spl.runs.recorder.MOST_WRITING", np.inf)
    keep = SearchKeeper(store.write, 0)
    for progress, checkpoint, is_last in looks:
        keep(progress, lambda checkpoint=checkpoint: checkpoint, is_last=is_last)
        assert_same(read_checkpoint(store.connection, 0), checkpoint)
    assert store.count("ledgers") > len(looks) / 2


def test_a_ledger_that_was_emptied_is_written_anew(store, looks, monkeypatch):
    monkeypatch.setattr("spl.runs.recorder.WRITE_SECONDS", 0.0)
    keep = SearchKeeper(store.write, 0)
    (progress, first, _), (_, second, _) = looks[-3], looks[1]
    keep(progress, lambda: first, is_last=True)
    for searcher in second.views[0].searchers:
        searcher.totals[N_CLEARED] = 1
    keep(progress, lambda: second, is_last=True)
    assert_same(read_checkpoint(store.connection, 0), second)


def test_what_could_not_be_written_is_written_the_next_time(store, looks):
    keep = SearchKeeper(store.write, 0)
    for progress, checkpoint, _ in looks[:3]:
        store.is_full = progress is looks[1][0]
        keep(progress, lambda checkpoint=checkpoint: checkpoint, is_last=True)
    assert_same(read_checkpoint(store.connection, 0), looks[2][1])


def test_a_checkpoint_is_written_after_each_round_and_seldom_within_one(store, looks):
    keep = SearchKeeper(store.write, 0)
    written = []
    for progress, checkpoint, is_last in looks:
        before = store.count("history")
        keep(progress, lambda checkpoint=checkpoint: checkpoint, is_last=is_last)
        if store.count("history") > before:
            written.append(progress.n_rounds)
    assert written == [0, 1, 2, 3, 4, 4]  # the first look, the end of each round, and the end


def test_a_keeper_in_a_new_process_goes_on_in_the_same_file(store, looks):
    for progress, checkpoint, _ in looks[::3]:
        SearchKeeper(store.write, 0)(progress, lambda checkpoint=checkpoint: checkpoint, is_last=True)
        assert_same(read_checkpoint(store.connection, 0), checkpoint)


def test_a_search_that_never_began_has_no_checkpoint(store):
    assert read_checkpoint(store.connection, 0) is None


def test_two_searches_of_a_run_are_kept_apart(store, looks):
    for search, (progress, checkpoint, _) in enumerate(looks[:2]):
        SearchKeeper(store.write, search)(progress, lambda checkpoint=checkpoint: checkpoint, is_last=True)
    for search in (0, 1):
        assert_same(read_checkpoint(store.connection, search), looks[search][1])


def test_the_file_of_a_long_search_stays_small(tmp_path, store):
    keep = SearchKeeper(store.write, 0)
    limits = Limits(timeout=None, max_evaluations=5_000)
    discover(
        RegressionRequest(make_data(), Grammar.from_text(RULES), config=make_config(None), limits=limits), keep=keep
    )
    with closing(sqlite3.connect(tmp_path / "run.spl")) as connection:
        [size] = connection.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").fetchone()
    assert size < 5_000 * 2 * 100  # two keys for each evaluation, and little else
