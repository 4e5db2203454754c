"""Trees grow alike in threads, in processes and on a cluster; limits and Ctrl-C hold everywhere."""

import json
import os
import signal
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import joblib
import numpy as np
import pytest
import sympy
from click.testing import CliRunner
from distributed import Client, LocalCluster

from spl.cli.main import main
from spl.data.dataset import Dataset
from spl.errors import OperatorError
from spl.formulas.grammar import Grammar
from spl.formulas.operators import Operator
from spl.regression import trees as forest
from spl.regression.discover import Discovery, Watcher, discover
from spl.regression.memory_budget import MemoryPlan
from spl.regression.request import RegressionRequest
from spl.settings import Limits, SearchConfig

pytestmark = pytest.mark.process

RULES = "f -> f + f | f * f | sin(f) | exp(f) | C * f | x | y"
CONFIG = SearchConfig(max_rules=10, n_episodes=120, n_transplants=2, max_schedules=1, n_trees=3)
PLAIN = replace(CONFIG, n_completions=0)  # without a bank, which takes a second to grow
ENDLESS = replace(PLAIN, max_rules=20, n_episodes=100_000)
x, y = np.random.default_rng(0).uniform(0.5, 3, (2, 30))
DATA = Dataset.from_arrays(np.stack([x, y], axis=1), np.sin(7 * x * y) + np.abs(np.sin(40 * x)), names=["x", "y"])


NO_LIMIT = Limits(timeout=None)
MEMORY = MemoryPlan(n_entries=1000, n_keys=1 << 16, n_nodes=200)


def search(
    n_jobs: int = 2, config: SearchConfig = CONFIG, limits: Limits = NO_LIMIT, watch: Watcher | None = None
) -> Discovery:
    grammar = Grammar.from_text(RULES)
    return discover(RegressionRequest(DATA, grammar, config=config, limits=limits, n_jobs=n_jobs, seed=3), watch=watch)


def summary(found: Discovery) -> tuple:
    front = [(c.program.tokens, c.program.constants, c.loss, c.reward) for c in found.front]
    return front, found.n_episodes, found.n_evaluations, found.stopped


@pytest.fixture(scope="module")
def expected() -> tuple:
    return summary(search(n_jobs=1))


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.mark.parametrize("n_jobs", [2, 4])
def test_threads_find_what_one_job_finds(n_jobs: int, expected: tuple) -> None:
    assert summary(search(n_jobs)) == expected


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_processes_find_what_one_job_finds(n_jobs: int, expected: tuple) -> None:
    with joblib.parallel_config("loky"):
        assert summary(search(n_jobs)) == expected


def test_a_cluster_finds_what_one_job_finds(client: Client, expected: tuple) -> None:
    with joblib.parallel_config("dask", client=client):
        assert summary(search()) == expected
    opened = client.run(lambda: forest._open_kit.cache_info())
    assert all(info.misses <= 1 for info in opened.values())  # what never changes was sent at most once to each ...
    assert sum(info.hits for info in opened.values()) >= 10  # ... and used by every call


def test_spl_fit_searches_on_the_cluster_of_a_scheduler(client: Client, tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    np.savetxt(table, np.column_stack([x, y, 2 * x * y + 1]), delimiter=",", header="x,y,z", comments="")
    words = ["fit", str(table), "--target", "z", "--operators", "+,*", "--trees", "3", "--timeout", "inf", "--json"]
    address = client.scheduler.address
    here, there = (CliRunner().invoke(main, [*words, *more]) for more in ([], ["--cluster", address]))
    assert there.exit_code == 0, there.output
    results = [json.loads(done.stdout) for done in (here, there)]
    assert results[0]["front"] == results[1]["front"]
    assert results[0]["evaluations"] == results[1]["evaluations"]


def test_a_worker_that_is_killed_in_the_midst_changes_nothing(client: Client, expected: tuple) -> None:
    before = client.run(os.getpid)
    victim = next(iter(before.values()))
    killers = [threading.Timer(0.02, os.kill, (victim, signal.SIGKILL))]  # while the next batch is under way

    def watch(_: object) -> None:
        if killers:
            killers.pop().start()

    with joblib.parallel_config("dask", client=client):
        assert summary(search(watch=watch)) == expected
    client.wait_for_workers(2)
    assert set(client.run(os.getpid).values()) != set(before.values())


def test_evaluations_are_limited_alike_in_processes() -> None:
    limits = Limits(timeout=None, max_evaluations=400)
    with joblib.parallel_config("loky"):
        found = summary(search(config=PLAIN, limits=limits))
    assert found == summary(search(config=PLAIN, limits=limits))
    assert found[-1] == "evaluations"


def test_the_time_limit_holds_in_processes() -> None:
    with joblib.parallel_config("loky"):
        found = search(config=ENDLESS, limits=Limits(timeout=1.5))
    assert found.stopped == "timeout"
    assert len(found.front)


def test_ctrl_c_ends_a_search_in_processes() -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    killer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    try:
        with joblib.parallel_config("loky"):
            found = search(config=ENDLESS, watch=lambda _: None if killer.ident else killer.start())
    finally:
        signal.signal(signal.SIGINT, before)
    assert found.stopped == "interrupted"
    assert len(found.front)


def search_with(operator: Operator) -> Discovery:
    data = Dataset.from_arrays(x[:, np.newaxis], 3 * np.tanh(x) + 1, names=["x"])
    grammar = Grammar.from_text(f"f -> f + f | C * f | {operator.name}(x) | 1", [operator])
    return discover(RegressionRequest(data, grammar, config=PLAIN, n_jobs=2, seed=0))


def test_an_operator_of_the_user_works_in_processes() -> None:
    shift = 0.0
    operator = Operator("squash", lambda a: np.tanh(a + shift))
    with joblib.parallel_config("loky"):
        found = search_with(operator)
    assert summary(found) == summary(search_with(operator))
    assert found.front[-1].loss < 1e-12


def test_an_operator_that_cannot_travel_is_refused() -> None:
    class Form:
        lock = threading.Lock()

        def __call__(self, a: sympy.Expr) -> sympy.Expr:
            return sympy.tanh(a)

    operator = Operator("squash", np.tanh, sympy=Form())
    with (
        joblib.parallel_config("loky"),
        pytest.raises(OperatorError, match="cannot be sent to other processes: cannot pickle"),
    ):
        search_with(operator)


def test_searchers_of_a_worker_are_used_again_and_again() -> None:
    recipe = forest.Recipe(Grammar.from_text(RULES).bind(["x", "y"]), DATA, CONFIG, MEMORY)
    kit = forest._Kit(recipe, recipe.make_completion())
    first = kit.take()
    assert kit.take() is not first
    kit.put_back(first)
    assert kit.take() is first


def test_a_call_goes_on_where_another_ended() -> None:
    recipe = forest.Recipe(Grammar.from_text(RULES).bind(["x", "y"]), DATA, CONFIG, MEMORY)
    completion = recipe.make_completion()
    whole, halves = recipe.make_searcher(1, completion), recipe.make_searcher(1, completion)
    whole.grow(40, 10**9, lambda: False)
    parcel = forest.pack(recipe)
    for _ in range(2):
        halves.adopt(forest._grow_elsewhere(parcel, halves.state(), 20, 10**9))
    for name in ("random", "totals", "front", "nodes", "children"):
        assert getattr(whole.state(), name).tobytes() == getattr(halves.state(), name).tobytes()


def test_without_a_limit_a_tree_may_make_any_number_of_evaluations() -> None:
    assert forest.share_evaluations(None, 2) > 10**18
    assert forest.share_evaluations(7, 2) == 4
