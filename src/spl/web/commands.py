"""The commands `spl watch` and `spl studio`. Whatever is slow to import is imported inside."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import click

from spl.errors import SplError

FOLDER = "spl-studio"
MAX_MEGABYTES = 100.0

_port = click.option("--port", default=0, metavar="N", help="[default: one that is free]")
_browser = click.option("--browser/--no-browser", "opens_browser", default=True, help="Open the page in a browser.")


@click.command()
@click.argument("run")
@_port
@_browser
def watch(run: str, port: int, opens_browser: bool) -> None:
    """Follow a run in the browser: front, learning curve, best formula and its fit, and a button to stop it.

    RUN is a run file, which `spl fit --run FILE` and `spl dynamics --run FILE` write, whether or not the search still goes on. Closing
    the page or ending this command changes nothing for the search.

    The page is served on this machine only, at an address with a token that nobody can guess.

    \b
    Examples:
      spl fit planets.csv --target period --run planets.spl &
      spl watch planets.spl
    """
    with _needs_web():
        from spl.web.apps import make_watch_app
        from spl.web.server import serve

    serve(lambda token, end: make_watch_app(run, token, end), port=port, opens_browser=opens_browser, say=click.echo)


@click.command()
@click.option(
    "--folder", default=FOLDER, show_default=True, metavar="PATH", help="Where data and runs are kept; made if missing."
)
@click.option(
    "--max-megabytes", default=MAX_MEGABYTES, show_default=True, metavar="N", help="The largest file that is taken."
)
@_port
@_browser
def studio(folder: str, max_megabytes: float, port: int, opens_browser: bool) -> None:
    """Search in the browser: drop a table, say what is known, watch formulas appear, compare them, take code and report away.

    Each search is a process of its own that writes a run file into the folder. When the studio ends, with Ctrl-C, searches that
    still go on are stopped with the best so far; `spl resume` continues them.

    Nothing leaves this machine. The page is served here only, at an address with a token that nobody can guess.

    \b
    Examples:
      spl studio
      spl studio --folder ~/experiments --port 8000 --no-browser
    """
    with _needs_web():
        from spl.web.apps import make_studio_app
        from spl.web.folder import StudioFolder
        from spl.web.server import serve
    from spl.settings import check_number

    check_number("max_megabytes", max_megabytes, above=0.0)
    opened = StudioFolder.open(folder)
    jobs = min(2, os.cpu_count() or 1)
    click.echo(f"Data and runs are in {opened.path}")
    serve(
        lambda token, end: make_studio_app(opened, token, end, max_megabytes=max_megabytes, jobs=jobs),
        port=port,
        opens_browser=opens_browser,
        say=click.echo,
    )


@contextmanager
def _needs_web() -> Iterator[None]:
    """Tell what to install if the web library is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("starlette", "uvicorn"):
            raise
        raise SplError(
            f'The page needs {error.name}, which is not installed: pip install "symbolic-physics-learner[ui]"'
        ) from None
