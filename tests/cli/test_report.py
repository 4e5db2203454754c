"""The command `spl report`."""

import pytest
from click.testing import CliRunner
from tests.run_examples import make_config, search_in_file

from spl.cli.main import main
from spl.settings import Limits

pytestmark = pytest.mark.search


@pytest.fixture(scope="module")
def run_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "law.spl"
    search_in_file(path, limits=Limits(max_evaluations=200), config=make_config(n_episodes=20))
    return path


def spl(*words):
    return CliRunner().invoke(main, ["report", *map(str, words)])


def test_the_report_stands_beside_the_run(run_file):
    done = spl(run_file)
    assert done.exit_code == 0
    assert done.output == f"The report is in {run_file.with_suffix('.html')}.\n"
    assert run_file.with_suffix(".html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_the_report_goes_where_it_is_told(run_file, tmp_path):
    assert spl(run_file, "-o", tmp_path / "other.html").exit_code == 0
    assert "A formula for z" in (tmp_path / "other.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["missing.spl"], "There is no run file 'missing.spl'."),
        (["{run}", "-o", "report.pdf"], "The report must end in .html; got 'report.pdf'."),
        (["{run}", "-o", "nowhere/report.html"], "The folder of the report 'nowhere/report.html' does not exist."),
        (["{run}", "-o", "{folder}"], "cannot be written"),
    ],
)
def test_a_mistake_is_one_line(run_file, tmp_path, words, message):
    folder = tmp_path / "taken.html"
    folder.mkdir()
    done = spl(*(word.format(run=run_file, folder=folder) for word in words))
    assert done.exit_code == 2
    assert message in done.output
    assert len(done.output.splitlines()) == 1
