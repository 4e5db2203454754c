"""What help() says of the public names: every parameter is described, and what they print as is short."""

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import spl
import spl.datasets
from spl import Grammar, SearchConfig, SPLRegressor
from spl.data.dataset import Dataset
from spl.data.trajectories import Trajectories
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.regression.front import Front


def public_callables() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield what is in `spl.__all__` with the public methods of its classes, and the functions of `spl.datasets`."""
    for name, function in inspect.getmembers(spl.datasets, inspect.isfunction):
        if not name.startswith("_"):
            yield f"datasets.{name}", function
    for name in spl.__all__:
        value = getattr(spl, name)
        if not callable(value) or (isinstance(value, type) and issubclass(value, Exception)):
            continue
        yield name, value
        for method, function in inspect.getmembers(value, inspect.isroutine):
            if not method.startswith("_") and function.__module__.startswith("spl."):
                yield f"{name}.{method}", function


@pytest.mark.parametrize(
    ("name", "value"), [*public_callables()], ids=lambda value: value if isinstance(value, str) else ""
)
def test_every_parameter_is_described(name, value):
    described = re.findall(r"^ +(\w+): \S", (inspect.getdoc(value) or "").partition("Args:")[2], re.MULTILINE)
    parameters = [parameter for parameter in inspect.signature(value).parameters if parameter != "self"]
    assert [parameter for parameter in parameters if parameter not in described] == []


def test_there_are_public_callables_to_look_at():
    names = [name for name, _ in public_callables()]
    assert {"SPLRegressor", "SPLRegressor.fit", "SPLDynamics.simulate", "SearchConfig", "datasets.make_sir"} <= {*names}


WORDS = Vocabulary(("x", "y"))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (parse_expression("C * x + sin(y)", WORDS).with_constants(np.array([2.5])), "Program('2.5*x + sin(y)')"),
        (Grammar.from_text("f -> x | g\ng -> y"), "Grammar('f -> x | g; g -> y')"),
        (
            Grammar.from_operators(["+", "-", "*", "/", "sin", "cos", "exp", "log"], ["x"]),
            "Grammar('f -> f + f | f - f | f*f | f/f | sin(f) | cos(f) | exp(f)...')",
        ),
        (SearchConfig(), "SearchConfig()"),
        (SearchConfig(patience=None, closers=("scan",)), "SearchConfig(patience=None, closers=('scan',))"),
        (Front(()), "<Front of 0 formulas>"),
        (Dataset.from_arrays([[1.0], [2.0]], [3.0, 4.0]), "<Dataset of 2 rows: x0>"),
        (Trajectories.from_arrays(np.arange(9.0), 0.1, names=["a"]), "<Trajectories of a: 1 run, 9 samples>"),
        (SPLRegressor(grammar=Grammar.from_text("f -> x0")), "SPLRegressor(grammar=Grammar('f -> x0'))"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_printed_is_short_and_has_no_tokens(value, shown):
    assert repr(value) == shown
