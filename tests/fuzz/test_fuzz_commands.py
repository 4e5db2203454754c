"""Options of strangers: a command does its work (status 0) or says in words what is wrong (status 2), never with a traceback."""

import contextlib

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from tests.fuzz.guard import cases, guarded
from tests.fuzz.texts import ATTACKS, NAMES

from spl.cli.main import main

pytestmark = pytest.mark.slow

WORDS = [
    "", " ", "0", "-1", "1", "1.5", "1e999", "nan", "inf", "-inf", "9" * 400, "x", "y", "t", "x,y", "x,x", ",", '"x', "data.csv", "law.grammar", "/", "-", "--",
    "-h", "mdl", "knee", "auto", "weak", "+", "+,*", "+,+", "sin", "f -> x", "\n", "x" * 1_000, *NAMES, *ATTACKS[:20],
]  # fmt: skip
word = st.one_of(st.sampled_from(WORDS), st.text(st.characters(exclude_categories=["Cs"]), max_size=8))
FIT = [
    "--target",
    "--features",
    "--operators",
    "--grammar",
    "--selection",
    "--timeout",
    "--max-evaluations",
    "--seed",
    "--weights",
    "--missing",
]
UNITS = ["--units", "--target-unit", "--known", "--constants"]
DYNAMICS = ["--time", "--states", "--inputs", "--group", "--missing", "--operators", "--grammar", "--timeout", "--seed"]


@pytest.fixture(scope="module", autouse=True)
def _folder_with_data(tmp_path_factory):
    """A folder with a small table and a grammar, in which the commands run."""
    folder = tmp_path_factory.mktemp("commands")
    rows = [f"{k / 10},{k % 7},{k * 0.3}" for k in range(30)]
    (folder / "data.csv").write_text("\n".join(["t,x,y", *rows]))
    (folder / "law.grammar").write_text("f -> f + f | C * f | x | t")
    with contextlib.chdir(folder):
        yield


def run(*words):
    """Run a command; tell how it ended."""
    result = CliRunner().invoke(main, list(words))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    assert result.exit_code in (0, 2)
    assert "Traceback" not in result.output


@cases(50)
@given(st.dictionaries(st.sampled_from(FIT), word, min_size=1, max_size=2))
def test_fit_takes_its_options_or_refuses_them_in_words(options):
    with guarded("commands"):
        chosen = {"--target": "y", "--timeout": "1", "--max-evaluations": "20", "--operators": "+,*"} | options
        if "--grammar" in options:
            del chosen["--operators"]
        run("fit", "data.csv", *(part for option in chosen.items() for part in option))


unit = st.one_of(st.sampled_from(["m", "s", "m/s", "", "1", "9**9**9", "m**999", "degC", "header"]), word)


@cases(60)
@given(
    st.tuples(unit, unit), st.dictionaries(st.sampled_from(UNITS), st.one_of(unit, unit.map("g={}".format)), max_size=3)
)
def test_units_are_taken_or_refused_in_words(columns, options):
    with guarded("commands"):
        of_columns = "t={},x={}".format(*columns)
        chosen = {"--units": of_columns, "--target-unit": "m", "--timeout": "1", "--max-evaluations": "20"} | options
        run("fit", "data.csv", "--target", "y", *(part for option in chosen.items() for part in option))


@cases(10)
@given(st.dictionaries(st.sampled_from(DYNAMICS), word, min_size=1, max_size=2))
def test_dynamics_take_their_options_or_refuse_them_in_words(options):
    with guarded("commands"):
        chosen = {"--time": "t", "--timeout": "1", "--operators": "+,*"} | {
            k: v for k, v in options.items() if k != "--timeout"
        }
        run("dynamics", "data.csv", *(part for option in chosen.items() for part in option))


@cases(100)
@given(
    st.sampled_from([["fit"], ["dynamics"], ["grammar", "check"], ["operators"], ["show"], ["export"], []]),
    st.lists(word, max_size=4),
)
def test_any_words_are_a_command_or_are_refused_in_words(command, words):
    with guarded("commands"):
        run(*command, *words)
