"""Formulas with numbers of groups in other formats: the table of numbers is in each."""

import shutil
import subprocess

import numpy as np
import pytest

from spl.formulas.own_numbers import OwnNumber
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.notation.export import FORMATS
from spl.notation.grouped_export import export_grouped

LAW = parse_expression("k1*exp(-0.5*x) + k2*'flow rate'", Vocabulary(("x", "flow rate", "k1", "k2")))
OWN = (
    OwnNumber("k1", "wood", ('o"ak', "a'sh$"), (0.7, 1.25)),
    OwnNumber("k2", "the lab", ("A", "B", "C"), (1.5, 2.5, float("nan"))),
)
EXPECTED = 1.25 * np.exp(-0.5) + 2.5 * 3


@pytest.mark.parametrize("format", FORMATS)
def test_the_numbers_of_all_groups_are_in_the_text(format):
    text = export_grouped(LAW, OWN, format)
    assert all(number in text for number in ("0.7", "1.25", "1.5", "2.5"))


def test_python_code_takes_the_groups_of_rows():
    names = {}
    exec(export_grouped(LAW, OWN, "python"), names)
    found = names["predict"]([1.0, 0.0], [3.0, 2.0], ["a'sh$", 'o"ak'], ["B", "A"])
    np.testing.assert_allclose(found, [EXPECTED, 0.7 + 1.5 * 2])


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_c_code_takes_the_number_of_a_group(tmp_path):
    main = '\n#include <stdio.h>\nint main(void) { printf("%.12f", predict(1.0, 3.0, 1, 1)); return 0; }\n'
    (tmp_path / "law.c").write_text(export_grouped(LAW, OWN, "c") + main)
    subprocess.run(["cc", "-std=c99", "law.c", "-o", "law", "-lm"], cwd=tmp_path, check=True)
    printed = subprocess.run([tmp_path / "law"], capture_output=True, text=True, check=True).stdout
    assert float(printed) == pytest.approx(EXPECTED)
