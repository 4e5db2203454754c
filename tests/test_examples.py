"""Every example runs, prints what it found and writes its figures."""

import runpy
from pathlib import Path

import pytest

pytestmark = pytest.mark.search

EXAMPLES = Path(__file__).parent.parent / "examples"
# What each prints and writes; seconds where the example's own limit is too long for a test
EXPECTED = {
    "law_from_a_table": ("period = distance**1.5", ["kepler.png"], ()),
    "say_what_you_know": ("sin(angle)", ["swing.png", "swing-tree.svg"], ()),
    "noisy_lorenz": ("(x)' = ", ["lorenz.png"], (8.0,)),
    "driven_by_an_input": ("4*power", ["coffee.png"], ()),
    "run_file_and_report": ("continued: x0/exp(x1)", ["decay.spl", "decay.html"], ()),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_an_example_prints_what_it_found_and_writes_its_figures(name, tmp_path, capsys):
    text, files, more = EXPECTED[name]
    runpy.run_path(str(EXAMPLES / f"{name}.py"))["main"](tmp_path, *more)
    assert text in capsys.readouterr().out
    assert not [file for file in files if not (tmp_path / file).stat().st_size]


def test_every_example_is_run():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(EXPECTED)
