"""Lists of names in options come back from the reader of the command line as they were."""

import click
import pytest

from spl.cli.options import split_names
from spl.web.option_lists import join_names

OPTION = click.Option(["--features"])


@pytest.mark.parametrize("names", [("x",), ("x", "a,b"), ('say "hi"', "y"), ("mass (kg)", "v [m/s]")])
def test_names_are_read_back_as_they_were(names):
    assert split_names(click.Context(click.Command("fit")), OPTION, join_names(names)) == names
