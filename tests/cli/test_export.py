"""`spl export`: equations of run files in other languages."""

import numpy as np
import pytest
import sympy
from click.testing import CliRunner
from tests.run_examples import make_data, search_in_file

from spl.cli.main import main
from spl.notation.export import FORMATS

pytestmark = pytest.mark.search


def call(*words: object, status: int = 0) -> str:
    done = CliRunner().invoke(main, ["export", *map(str, words)])
    assert done.exit_code == status, done.output
    return done.output


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory):
    path = tmp_path_factory.mktemp("runs") / "law.spl"
    return path, search_in_file(path)


def test_the_exported_function_has_the_values_of_the_row_that_was_asked_for(run) -> None:
    from spl.regression.fit import evaluate

    path, found = run
    columns = make_data().columns
    assert len(found.front) > 1
    for index, candidate in enumerate(found.front):
        namespace: dict = {}
        exec(call(path, "--format", "python", "--index", index), namespace)
        np.testing.assert_allclose(namespace["predict"](*columns), evaluate(candidate.program, columns), rtol=1e-10)


@pytest.mark.parametrize("form", FORMATS)
def test_the_chosen_equation_comes_out_in_every_format(run, form: str) -> None:
    path, found = run
    chosen = found.front.choose("mdl", found.n_rows, found.floor)
    assert call(path, "--format", form) == call(path, "--format", form, "--index", chosen)


def test_sympy_is_a_line_that_sympy_reads(run) -> None:
    path, _ = run
    assert {str(symbol) for symbol in sympy.sympify(call(path, "--format", "sympy")).free_symbols} <= {"x", "y"}


def test_the_text_goes_into_a_file_if_one_is_named(run, tmp_path) -> None:
    path, _ = run
    assert call(path, "--format", "c", "-o", tmp_path / "law.c") == ""
    assert (tmp_path / "law.c").read_text() == call(path, "--format", "c")


def test_mistakes_are_named(run, tmp_path) -> None:
    path, found = run
    assert "--si needs units" in call(path, "--format", "c", "--si", status=2)
    assert "`format` must be one of" in call(path, "--format", "fortran", status=2)
    assert f"0 to {len(found.front) - 1}; got 99" in call(path, "--format", "c", "--index", 99, status=2)
    assert "There is no run file" in call(tmp_path / "missing.spl", "--format", "c", status=2)
    assert "cannot be written" in call(path, "--format", "c", "-o", tmp_path / "no" / "law.c", status=2)
