"""A run file and a studio without a network, shared by the tests of its routes."""

from threading import Event

import numpy as np
import pandas as pd
import pytest
from tests.web.client import ADDRESS, Client

from spl.data.dataset import Dataset
from spl.formulas.grammar import Grammar
from spl.regression.request import RegressionRequest
from spl.runs.regression import discover_in_file, request_stop
from spl.settings import Limits
from spl.web.apps import make_studio_app, make_watch_app
from spl.web.folder import StudioFolder
from spl.web.searches import Searches

MAX_MEGABYTES = 0.05


@pytest.fixture(scope="session")
def finished_run(tmp_path_factory):
    """The file of a short search for 2*x*y + x with a column of a dangerous name."""
    path = tmp_path_factory.mktemp("runs") / "law.spl"
    x, y = np.random.default_rng(0).uniform(0.5, 3, (2, 50))
    data = Dataset.from_arrays(np.stack([x, y], axis=1), 2 * x * y + x, names=["x", "<b>y</b>"])
    grammar = Grammar.from_operators(["+", "*"], data.names)
    discover_in_file(path, RegressionRequest(data, grammar, target="force", limits=Limits(max_evaluations=300)))
    return path


@pytest.fixture
def watch(finished_run):
    return Client(make_watch_app(finished_run, ADDRESS.token, Event()))


@pytest.fixture
def folder(tmp_path):
    return StudioFolder.open(tmp_path / "studio")


@pytest.fixture
def studio(folder):
    return Client(make_studio_app(folder, ADDRESS.token, Event(), max_megabytes=MAX_MEGABYTES, jobs=1))


@pytest.fixture
def searches(folder):
    """The searches of a studio whose folder has a small table."""
    x = np.linspace(0, 3, 60)
    noise = np.random.default_rng(0).normal(size=60)
    pd.DataFrame({"x": x, "y": np.sin(x) + 0.1 * noise}).to_csv(folder.path / "d.csv", index=False)
    started = Searches(folder, request_stop)
    yield started
    started.end_all()
