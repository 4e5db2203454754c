"""Units in the shell: `spl fit --units`, and what the other commands do with a run that has them."""

import json

import pandas as pd
import pytest
from tests.cli.command_line import run

pytestmark = pytest.mark.search

FALL = ("fall.csv", "--target", "E", "--max-evaluations", 300, "--timeout", "inf")
FALL_UNITS = ("--units", "m=kg, v=m/s, h=m", "--target-unit", "J", "--known", "g=9.80665 m/s**2")


@pytest.fixture
def fall(tmp_path, monkeypatch, rng):
    monkeypatch.chdir(tmp_path)
    m, v, h = rng.uniform(1, 4, (3, 60))
    frame = pd.DataFrame({"m": m, "v": v, "h": h, "E": m * (v**2 / 2 + 9.80665 * h), "kind": ["p", "q"] * 30})
    frame.to_csv("fall.csv", index=False)
    headers = {"m": "m (kg)", "v": "v [km/h]", "h": "h (m)", "E": "E (kJ)"}
    frame.drop(columns="kind").rename(columns=headers).to_csv("headers.csv", index=False)


def test_units_and_named_constants_are_kept_to_and_shown(fall):
    result = run("fit", *FALL, *FALL_UNITS)
    assert "E = m*(0.5*v**2 + h*g)" in result.stdout.replace("v**2/2", "0.5*v**2")
    assert "Units: E in J; m in kg, v in m/s, h in m; g = 9.80665 m/s**2." in " ".join(result.stdout.split())


def test_a_run_with_units_is_shown_exported_resumed_and_has_points_to_measure(fall):
    run("fit", *FALL, *FALL_UNITS, "--run", "fall.spl")
    shown = " ".join(run("show", "fall.spl").stdout.split())
    assert "E by m, v, h; 60 rows" in shown
    assert "Units: E in J; m in kg" in shown
    described = json.loads(run("show", "fall.spl", "--json").stdout)
    assert described["units"]["known"] == {"g": {"value": 9.80665, "unit": "m/s**2"}}
    assert "def predict(m, v, h):" in run("export", "fall.spl", "--format", "python").stdout
    assert run("suggest", "fall.spl", "-n", 1).stdout.startswith("m,v,h\n")
    assert run("suggest", "fall.spl", "--bounds", "g=1:2").exit_code == 2
    in_si = run("export", "fall.spl", "--format", "python", "--si").stdout
    assert in_si == run("export", "fall.spl", "--format", "python").stdout  # these units are those of SI
    assert run("resume", "fall.spl", "--timeout", 0.1, "--quiet").exit_code == 0


def test_numbers_may_have_units_and_json_names_them(fall):
    options = ("--units", "m=kg, v=m/s, h=m, E=J", "--constants", "any", "--operators", "+,*")
    found = json.loads(run("fit", *FALL, *options, "--json").stdout)
    assert found["units"]["target"] == "J"
    assert found["units"]["numbers"] == "any"
    assert len(found["numbers"]) > 0
    assert all("unit" in number for number in found["numbers"])


def test_units_in_headers_are_used_if_asked_for_and_pointed_out_if_not(fall):
    options = ("headers.csv", "--target", "E (kJ)", "--max-evaluations", 100, "--timeout", "inf")
    result = run("fit", *options, "--units", "header", "--known", "g=g")
    assert "v [km/h]' in km/h" in " ".join(result.stdout.split())
    assert "--units header" not in result.stderr
    assert "Note: 'm (kg)' names a unit: --units header would use it" in run("fit", *options, "--quiet").stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--units", "m=kg, v=m/s, h=meterz, E=J"), "There is no unit 'meterz'. Did you mean 'meter'?"),
        (("--units", "m=kg, v=m/s, E=J"), "Column 'h' has no unit"),
        (("--units", "m=kg, v=m/s, h=m"), "The target has no unit"),
        (("--units", "m=kg, v=m/s, h=m, w=m, E=J"), "There is no column 'w'"),
        (("--units", "m=kg, v=m/s, h=m, E=K"), "nothing has the dimension temperature"),
        (("--units", "m=kg, v=m/s, h=degC, E=J"), "counts from a zero of its own"),
        (("--units", "m kg"), "'m kg' is not COLUMN=UNIT"),
        (("--units", "m=kg, m=g"), "The unit of 'm' is given twice"),
        (("--units", "header"), "The target has no unit"),
        ((*FALL_UNITS, "--known", "m=3 kg"), "has the name of a column"),
        ((*FALL_UNITS, "--known", "g=3 kg"), "The constant 'g' is given twice"),
        ((*FALL_UNITS, "--known", "k"), "'k' is not NAME=QUANTITY"),
        ((*FALL_UNITS, "--known", "k=parsnip"), "Constant 'k': There is no unit 'parsnip'"),
        ((*FALL_UNITS, "--groups", "kind"), "--units cannot be combined with --groups"),
        ((*FALL_UNITS, "--no-constants", "--constants", "any"), "--no-constants cannot be combined"),
        (("--target-unit", "J"), "--target-unit needs the units of the columns"),
        (("--known", "g=g"), "--known needs the units of the columns"),
        (("--constants", "any"), "--constants any needs the units of the columns"),
    ],
)
def test_wrong_units_are_refused_in_words(fall, options, message):
    result = run("fit", *FALL, *options)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
