"""The documentation can be built without a warning, and its generated parts say what the code says."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

pytest.importorskip("sphinx")
ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Return the folder of the built pages."""
    folder = tmp_path_factory.mktemp("pages")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "--fail-on-warning",
        "--keep-going",
        "--quiet",
        str(ROOT / "docs"),
        str(folder),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_operator_stands_in_the_reference(pages):
    from spl.formulas.operators import BUILT_IN

    page = (pages / "reference/operators.html").read_text(encoding="utf-8")
    assert not [name for name in BUILT_IN if f'<span class="pre">{name}</span>' not in page]


def test_every_command_stands_in_the_reference(pages):
    from spl.cli.main import main

    page = (pages / "reference/commands.html").read_text(encoding="utf-8")
    assert not [name for name in main.commands if f'id="spl-{name}"' not in page]


def test_every_setting_stands_in_the_reference_with_what_it_says(pages):
    from dataclasses import fields

    from spl.settings import SearchConfig

    page = (pages / "reference/settings.html").read_text(encoding="utf-8")
    assert not [field.name for field in fields(SearchConfig) if field.name not in page]
    assert "weight of rarely tried branches" in page


def test_pages_need_no_network(pages):
    """Nothing but links may point elsewhere: no script, font or style of another host."""
    import re

    loads = re.compile(r"<(?:script|img)[^>]+src=\"https?:|<link[^>]+rel=\"stylesheet\"[^>]+href=\"https?:")
    assert not [page.name for page in pages.rglob("*.html") if loads.search(page.read_text(encoding="utf-8"))]
