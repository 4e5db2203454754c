"""What is shown while kernels are compiled: a line, a bar on a terminal, a first formula; nothing when they are."""

import io
import itertools

import numpy as np
import pytest
from rich.console import Console

from spl.data.dataset import Dataset
from spl.display import compilation
from spl.display.compilation import compile_visibly
from spl.formulas.grammar import Grammar
from spl.regression.request import RegressionRequest

X = np.linspace(1.0, 3.0, 20)
REQUEST = RegressionRequest(
    Dataset.from_arrays(X[:, np.newaxis], 2 * X**2, names=["x"]),
    Grammar.from_text("f -> f * f | C * f | x"),
    target="area",
)


@pytest.fixture
def due(monkeypatch):
    """Let the kernels seem not to be compiled; return the counts that are announced."""
    monkeypatch.setattr(compilation, "are_all_stored", lambda: False)
    monkeypatch.setattr(compilation, "estimate_seconds", lambda: 20)

    def compile_slowly(watch, look=None):
        watch(1)
        if look is not None:
            look()
        watch(40)

    monkeypatch.setattr(compilation, "compile_once", compile_slowly)


def shown(console_options, request=REQUEST):
    stream = io.StringIO()
    compile_visibly(Console(file=stream, width=120, **console_options), request)
    return stream.getvalue()


def test_a_log_has_one_line_and_the_first_formula(due):
    first, second = shown({}).splitlines()
    assert first == "Compiling the kernels; this happens once and takes about 20 s ..."
    assert "area = 2*x**2  (a first look, before the search)" in second


def test_without_a_request_there_is_no_formula(due):
    assert shown({}, None).splitlines() == ["Compiling the kernels; this happens once and takes about 20 s ..."]


def test_a_terminal_has_a_line_that_updates_in_place(due, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    clock = itertools.count()
    monkeypatch.setattr(compilation.time, "monotonic", lambda: float(next(clock)))
    text = shown({"force_terminal": True, "_environ": {}})
    assert "Compiling the kernels, once ..." in text
    assert "of about 20 s" in text
    assert "later searches start at once" in text
    assert "area = 2*x**2" in text


def test_nothing_is_shown_when_nothing_is_compiled(monkeypatch):
    monkeypatch.setattr(compilation, "are_all_stored", lambda: True)
    assert shown({}) == ""
