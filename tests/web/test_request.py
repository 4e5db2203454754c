"""Requests of a page are checked, and become equivalent commands."""

import json
import re
import shlex

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from spl.cli.main import main
from spl.cli.options import split_error_bars
from spl.data.table_files import read_table
from spl.errors import DataError, GrammarError, SettingError, SplError
from spl.web.request import read_request, write_request

LAW = {"kind": "law", "data": "d.csv", "target": "y", "features": ["x", "a,b"], "operators": ["+", "*"]}
SYSTEM = {"kind": "dynamics", "data": "d.csv", "time": "t", "states": ["x", "y"], "operators": ["+", "*"]}
UNITS = {
    "columns": {"x": "m", "a,b": "J"},
    "target": "J",
    "time": None,
    "known": ["k = 3 N"],
    "are_numbers_free": False,
}
SYSTEM_UNITS = {
    "columns": {"x": "m", "y": "m"},
    "target": None,
    "time": "s",
    "known": ["T = 2 s"],
    "are_numbers_free": False,
}


@pytest.fixture
def table(tmp_path):
    t = np.linspace(0, 3, 40)
    frame = pd.DataFrame({"t": t, "x": np.sin(t), "a,b": np.cos(t), "y": 2 * np.sin(t), "name": "p"})
    frame.to_csv(tmp_path / "d.csv", index=False)
    return read_table(str(tmp_path / "d.csv"))


RIGHT = [
    LAW,
    LAW | {"sigma_x": {"x": "t"}},
    LAW | {"knowledge": ["f > -9", "increasing in 'a,b' for x < 0.5"], "bounds": ["x=-2:2"]},
    LAW | {"form": "g(x)*h('a,b') + C", "guesses": ["2*x*'a,b' + 1", "x"]},
    LAW | {"units": UNITS},
    LAW | {"units": UNITS, "rules": "f -> f + f | C * x * k | 'a,b'", "knowledge": ["f < k"]},
    LAW | {"units": UNITS | {"known": [], "are_numbers_free": True}},
    SYSTEM,
    SYSTEM | {"order": 2, "inputs": ["a,b"], "weak": True},
    SYSTEM | {"constants": False},
    SYSTEM | {"units": SYSTEM_UNITS, "rules": "f -> f + f | C*x/T | y/T"},
    SYSTEM | {"units": SYSTEM_UNITS | {"known": ["v = 2 m/s**2"]}, "order": 2, "operators": ["+"]},
    SYSTEM | {"implicit": True, "rules": "f -> f + f | C * x' | C * y' | x"},
    SYSTEM | {"implicit": "auto", "rules": "f -> f + f | C * x' | C * y' | x"},
    SYSTEM | {"implicit": "auto", "weak": True},
]


@pytest.mark.parametrize("given", RIGHT)
def test_a_right_request_is_taken(table, given):
    assert read_request(given).check(table) == []


@pytest.mark.parametrize(
    "given",
    [
        *RIGHT,
        LAW | {"noise": "student", "sigma": "dy", "sigma_x": {"x": "dx", "a,b": "0.1"}},
        LAW | {"rules": "f -> x", "weights": "w", "timeout": 7.5, "jobs": 3, "seed": 4, "missing": ["bad", "-9"]},
    ],
)
def test_a_request_can_be_written_down_and_read_again(given):
    request = read_request(given)
    written = json.loads(json.dumps(write_request(request)))
    assert read_request(written) == request
    assert {name: written[name] for name in given} == given


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "magic"}, "`kind` must be 'law' or 'dynamics'; got 'magic'"),
        ({"target": None}, "Nothing is chosen for `target`"),
        ({"target": 3}, "`target` must be text; got 3"),
        ({"target": "z"}, "There is no column 'z'"),
        ({"target": "name"}, "holds text"),
        ({"features": "x"}, "`features` must be a list"),
        ({"features": ["y"]}, "also among the features"),
        ({"operators": []}, "No operator is selected"),
        ({"operators": ["sine"]}, "Did you mean 'sin'"),
        ({"rules": "f -> f + f | z"}, "no variable 'z'"),
        ({"timeout": 0}, "`timeout` must be more than 0"),
        ({"timeout": None}, "`timeout` must be a number"),
        ({"timeout": 1e9}, "604800 seconds or less"),
        ({"jobs": 0}, "`jobs` must be 1 or more"),
        ({"jobs": 1000}, "256 or less"),
        ({"seed": -1}, "`seed` must be 0 or more"),
        ({"constants": "yes"}, "must be true or false"),
        ({"noise": "gauss"}, "`noise` must be one of auto, normal"),
        ({"noise": 3}, "`noise` must be text; got 3"),
        ({"noise": "poisson"}, "The target is not a count in 39 of 40 rows: .* in line 3"),
        ({"sigma": "z"}, "There is no column 'z'"),
        ({"sigma": "name"}, "holds text"),
        ({"sigma": "t"}, "The error bars of the target must be more than 0; line 2 has 0"),
        ({"sigma": "t", "weights": "t"}, "Give error bars or weights, not both"),
        ({"sigma_x": "x=0.1"}, "`sigma_x` must be an object of texts; got 'x=0.1'"),
        ({"sigma_x": {"x": 0.1}}, "`sigma_x` must be an object of texts; got {'x': 0.1}"),
        ({"sigma_x": {"x": " "}}, "The error bars of 'x' are empty. Give a column or a number."),
        ({"sigma_x": {"x": "a=b"}}, "cannot be 'a=b', because it contains '='"),
        ({"knowledge": "f > 0"}, "`knowledge` must be a list"),
        ({"knowledge": ["f >"]}, "Something is missing here"),
        ({"knowledge": ["increasing in t"]}, "There is no column 't'"),
        ({"knowledge": ["f > 0 for x > 7"]}, "about no part of the box"),
        ({"knowledge": ["f > 0"], "bounds": ["x"]}, "is not COLUMN=LOW:HIGH"),
        ({"knowledge": ["f > 0"], "groups": ["name"]}, "cannot be combined with groups"),
        ({"units": "m"}, "`units` must be an object; got 'm'"),
        ({"units": {"columns": "x=m"}}, "`columns` must be an object of texts"),
        ({"units": UNITS | {"columns": {"x": "meterz", "a,b": "J"}}}, "Did you mean 'meter'"),
        ({"units": UNITS | {"columns": {"x": "m"}}}, "Column 'a,b' has no unit"),
        ({"units": UNITS | {"target": "K"}}, "No formula can have the unit of the target, K"),
        ({"units": UNITS | {"known": ["k 3"]}}, "is not NAME=QUANTITY"),
        ({"units": UNITS, "rules": "f -> f + f | x"}, "No formula of the grammar has the unit of the target, J"),
        ({"units": UNITS, "groups": ["name"]}, "Units cannot be combined with groups"),
        ({"sigma_x": {"x": "dx"}}, "There is no column 'dx'"),
        ({"sigma_x": {"x": "name"}}, "holds text"),
        ({"sigma_x": {"x": "-1"}}, "The error bars of column 'x' must be 0 or more; line 2 has -1"),
        ({"sigma_x": {"x": "a,b"}}, "The error bars 'a,b' are also among the features"),
        ({"sigma_x": {"t": "0.1"}}, "There are error bars for 't', which is not among the features"),
    ],
)
def test_what_is_wrong_with_a_request_is_named(table, change, message):
    with pytest.raises(SplError, match=message):
        read_request(LAW | change).check(table)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"time": None}, "Nothing is chosen for `time`"),
        ({"states": []}, "so there is no state"),
        ({"states": ["t"]}, "Give it one role"),
        ({"order": 3}, "`order` must be 1 or 2"),
        ({"discrete": True, "weak": True}, "A map has no derivatives"),
        ({"discrete": True, "implicit": True}, "A map has no rates"),
        ({"weak": True, "implicit": True}, "The weak form has no derivatives"),
        ({"rules": "f -> C * x' | y"}, "`implicit=True`"),
        ({"units": SYSTEM_UNITS | {"time": None}}, "The time has no unit"),
        ({"units": SYSTEM_UNITS | {"known": []}}, "The equation of 'x': No formula can have the unit"),
        ({"units": SYSTEM_UNITS, "rules": "f -> C*x | y"}, "No formula of the grammar has the unit of the target, m/s"),
        ({"units": SYSTEM_UNITS, "implicit": True}, "cannot be combined with rates on both sides"),
        ({"implicit": "yes"}, "`implicit` must be true, false or \"auto\"; got 'yes'"),
        ({"rules": "f -> C * x'", "implicit": True}, "Every formula of the grammar contains x'"),
    ],
)
def test_what_is_wrong_with_a_request_for_a_system_is_named(table, change, message):
    with pytest.raises(SplError, match=message):
        read_request(SYSTEM | change).check(table)


@pytest.mark.parametrize("given", [None, [], "law", 3])
def test_a_request_is_an_object(given):
    with pytest.raises(SettingError, match="JSON object"):
        read_request(given)


def test_rules_over_other_columns_are_refused(table):
    with pytest.raises(GrammarError):
        read_request(LAW | {"rules": "f -> f + f | y"}).check(table)


def test_a_column_that_looks_like_an_option_stays_a_column(table):
    with pytest.raises(DataError, match="no column '--help'"):
        read_request(LAW | {"target": "--help"}).check(table)
    assert "--target=--help" in read_request(LAW | {"target": "--help"}).arguments("d.csv", "r", "r.spl")


def test_the_command_names_all_that_was_asked_for():

    given = SYSTEM | {"inputs": ["u, v"], "group": "run", "order": 2, "timeout": 2.5, "jobs": 2, "seed": 7}
    assert shlex.join(read_request(given).arguments("d.csv", "d-1.rules", "d-1.spl")) == (
        "dynamics d.csv --time=t --states=x,y '--inputs=\"u, v\"' --group=run --order=2 '--operators=+,*' --timeout=2.5 --jobs=2 "
        "--seed=7 --run=d-1.spl"
    )
    rules = LAW | {"rules": "f -> x", "weights": "w"}
    assert read_request(rules).arguments("d.csv", "d-1.rules", "d-1.spl")[2:6] == [
        "--target=y", '--features=x,"a,b"', "--weights=w", "--grammar=d-1.rules",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "given",
    [
        LAW,
        LAW | {"constants": False},
        SYSTEM | {"discrete": True, "constants": False},
        SYSTEM | {"implicit": True, "order": 2},
        SYSTEM | {"implicit": "auto"},
    ],
)
def test_the_command_is_one_that_spl_understands(given, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # there is no table here: the options are read, then the file is missed
    words = read_request(given).arguments("d.csv", "d.rules", "d.spl")
    result = CliRunner().invoke(main, words)
    assert "There is no file 'd.csv'" in result.output, result.output


def test_noise_and_error_bars_become_options_of_the_command():
    plain, full = (
        read_request(given).arguments("d.csv", "r", "run.spl")
        for given in (LAW, LAW | {"noise": "student", "sigma": "dy", "sigma_x": {"x": "dx", "a,b": "0.1"}})
    )
    assert {"--noise=student", "--sigma=dy", '--sigma-x=x=dx,"a,b=0.1"'} == set(full) - set(plain)


def test_error_bars_of_columns_are_read_by_the_command_as_they_were_meant():
    bars = {"x": "t", "a,b": "0.1", "c=d": 'say "e", f'}
    (option,) = (
        word
        for word in read_request(LAW | {"sigma_x": bars}).arguments("d.csv", "r", "s")
        if word.startswith("--sigma-x=")
    )
    assert split_error_bars(None, None, option.removeprefix("--sigma-x=")) == bars


@pytest.mark.parametrize(("given", "options"), [(True, ["--implicit=yes"]), ("auto", ["--implicit=auto"]), (False, [])])
def test_rates_become_an_option_of_the_command(given, options):
    words = read_request(SYSTEM | {"implicit": given}).arguments("d.csv", "r", "r.spl")
    assert [word for word in words if word.startswith("--implicit")] == options


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (LAW | {"form": "g(z)"}, "Hole 'g' uses a column 'z' that does not exist."),
        (LAW | {"form": "g(x)", "guesses": ["'a,b'"]}, "it does not have the form 'g(x)'"),
        (LAW | {"guesses": ["sin(x)"]}, "no formula has 'sin'"),
        (LAW | {"form": "g(x)", "rules": "f -> x"}, "A form cannot be combined with rules"),
        (SYSTEM | {"form": "g(x)"}, "not for systems"),
        (SYSTEM | {"guesses": ["x"]}, "not for systems"),
    ],
)
def test_mistakes_in_forms_and_guesses_are_named(table, given, message):
    with pytest.raises(SplError, match=re.escape(message)):
        read_request(given).check(table)
