"""Gives the browser the address of a page through a file that only the user can read.

The address contains a token, and every user of a machine can see the arguments of all processes. So the browser is started with the
name of a file, which redirects it.
"""

import os
import tempfile
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from threading import Thread

_PAGE = """<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <title>spl</title>
  <meta name="referrer" content="no-referrer">
  <meta http-equiv="refresh" content="0; url={url}">
</head>
<body><p>The page is at <a href="{url}">{url}</a></p></body>
</html>
"""


@contextmanager
def handover_file(url: str) -> Iterator[Path]:
    """Yield a file that redirects to an address, readable only by its owner; it is deleted at the end."""
    number, name = tempfile.mkstemp(prefix="spl-", suffix=".html")  # created with mode 0600
    path = Path(name)
    try:
        with os.fdopen(number, "w", encoding="utf-8") as file:
            file.write(_PAGE.format(url=escape(url)))
        yield path
    finally:
        path.unlink(missing_ok=True)


def open_in_browser(path: Path) -> None:
    """Open a file in the user's browser without waiting: some browsers return only when they are closed."""
    Thread(target=webbrowser.open, args=[path.as_uri()], daemon=True).start()
