"""`spl watch` and `spl studio` on the command line: messages when they cannot start."""

import builtins
import sys

import pytest
from click.testing import CliRunner

from spl.cli.main import main


def run(*words):
    return CliRunner().invoke(main, words)


@pytest.mark.parametrize("command", ["watch", "studio"])
def test_help_tells_what_it_does_with_an_example(command):
    result = run(command, "--help")
    assert result.exit_code == 0
    assert f"spl {command}" in result.output


def test_a_run_that_is_not_there_is_named(tmp_path):
    result = run("watch", str(tmp_path / "missing.spl"), "--no-browser")
    assert result.exit_code == 2
    assert "There is no run file" in result.output


def test_a_file_that_is_no_run_is_named(tmp_path):
    (tmp_path / "notes.spl").write_text("not a run")
    result = run("watch", str(tmp_path / "notes.spl"), "--no-browser")
    assert result.exit_code == 2
    assert "notes.spl" in result.output


@pytest.mark.parametrize(
    ("words", "message"),
    [(["--max-megabytes", "0"], "`max_megabytes` must be more than 0"), (["--port", "99999"], "got 99999")],
)
def test_a_setting_that_cannot_be_is_named(tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    result = run("studio", "--no-browser", *words)
    assert result.exit_code == 2
    assert message in result.output


def test_a_missing_web_library_is_named_with_what_to_install(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] in ("starlette", "uvicorn")]:
        monkeypatch.delitem(sys.modules, name)
    for name in [name for name in sys.modules if name.startswith("spl.web.") and name != "spl.web.commands"]:
        monkeypatch.delitem(sys.modules, name)
    real_import = builtins.__import__

    def without_web(name, *rest):
        if name.partition(".")[0] in ("starlette", "uvicorn"):
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)
        return real_import(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_web)
    result = run("studio", "--no-browser")
    assert result.exit_code == 2
    assert 'pip install "symbolic-physics-learner[ui]"' in result.output
