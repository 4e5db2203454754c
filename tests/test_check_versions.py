"""What `make check-versions` runs, and that pyproject.toml allows what was tested and nothing else."""

import re
import sys
import tomllib

import pytest
from tests.check_versions import ROOT, Run, check, find_python, has_version, plan_runs, supported_pythons

from spl.kernels.runtime.numba_version import NEWEST_TESTED_NUMBA

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
RUNNING = f"{sys.version_info.major}.{sys.version_info.minor}"


def test_the_oldest_supported_python_is_the_one_that_is_required():
    assert PROJECT["requires-python"] == f">={supported_pythons()[0]}"


def test_every_python_is_run_and_the_oldest_with_the_lowest_versions_too():
    assert plan_runs(["3.11", "3.12"]) == [Run("3.11", "lowest-direct"), Run("3.11", "highest"), Run("3.12", "highest")]


def test_only_the_lowest_versions_may_use_what_is_deprecated():
    assert Run("3.11", "lowest-direct").warning_options == ["-W", "ignore::DeprecationWarning"]
    assert Run("3.11", "highest").warning_options == []


@pytest.mark.parametrize("group", ["dependencies", *PROJECT["optional-dependencies"]])
def test_every_dependency_has_a_lowest_version(group):
    needed = PROJECT["dependencies"] if group == "dependencies" else PROJECT["optional-dependencies"][group]
    outside = [name for name in needed if not name.startswith(PROJECT["name"])]
    assert not [name for name in outside if ">=" not in name]


def test_no_numba_newer_than_the_tested_ones_can_be_installed():
    [bounds] = [name for name in PROJECT["dependencies"] if name.startswith("numba")]
    major, minor = NEWEST_TESTED_NUMBA
    assert re.search(r"<([\d.]+)", bounds)[1] == f"{major}.{minor + 1}"


def test_an_interpreter_is_taken_only_if_it_runs_and_has_the_version():
    assert has_version(sys.executable, RUNNING)
    assert not has_version(sys.executable, "2.7")
    assert not has_version("/bin/false", RUNNING)


def test_interpreters_of_pyenv_are_found(tmp_path, monkeypatch):
    folder = tmp_path / "versions" / f"{RUNNING}.99" / "bin"
    folder.mkdir(parents=True)
    (folder / "python").symlink_to(sys.executable)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    assert find_python(RUNNING) == str(folder / "python")
    assert find_python("2.7") is None


def test_a_python_that_is_missing_is_skipped_and_named(monkeypatch):
    monkeypatch.setattr("tests.check_versions.find_python", lambda version: None)
    assert check(Run("3.99", "highest"), []) == "3.99-highest: skipped, because Python 3.99 is not installed"
