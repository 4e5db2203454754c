"""The commands `spl watch` and `spl studio`. Slow imports are inside the functions."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import click

from spl.errors import SplError

STUDIO_FOLDER = "spl-studio"
MAX_MEGABYTES = 100.0

_port = click.option("--port", default=0, metavar="N", help="Port of the page. [default: any free port]")
_browser = click.option("--browser/--no-browser", "opens_browser", default=True, help="Open the page in a browser.")


@click.command()
@click.argument("run")
@_port
@_browser
def watch(run: str, port: int, opens_browser: bool) -> None:
    """Follow a run in the browser: front, learning curve, best formula and its fit, and a button to stop it.

    RUN is a run file, as written by `spl fit --run FILE` and `spl dynamics --run FILE`; the search may be running or not. Closing the
    page or ending this command does not affect the search.

    The page is served only on this machine, at an address with a secret token.

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
    "--folder",
    default=STUDIO_FOLDER,
    show_default=True,
    metavar="PATH",
    help="Folder for data and runs; created if missing.",
)
@click.option(
    "--max-megabytes", default=MAX_MEGABYTES, show_default=True, metavar="N", help="Size limit of uploaded files."
)
@_port
@_browser
def studio(folder: str, max_megabytes: float, port: int, opens_browser: bool) -> None:
    """Search in the browser: drop a table, say what is known, watch formulas appear, compare them, export code and a report.

    Each search runs in a separate process and writes a run file into the folder. When the studio ends, with Ctrl-C, it stops all
    running searches with the best so far; `spl resume` continues them.

    Nothing leaves this machine. The page is served only here, at an address with a secret token.

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
    """Raise a clear error that says what to install if a web library is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("starlette", "uvicorn"):
            raise
        raise SplError(
            f'The page needs {error.name}. Install it with: pip install "symbolic-physics-learner[ui]"'
        ) from None
