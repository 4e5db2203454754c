"""Routes of the studio: upload and describe data, check rules, start searches."""

import gzip
import zlib
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from spl.data.table_files import Table
from spl.formulas.grammar_rules import DEFAULT_OPERATORS
from spl.formulas.operators import BUILT_IN
from spl.settings import TIMEOUT
from spl.web.answers import TooLarge, answer, page, read_json, read_pieces
from spl.web.folder import StudioFolder
from spl.web.given_units import GivenUnits, check_units, explain_law, explain_system, read_given_units
from spl.web.request import AllowedFormulas, read_request
from spl.web.request_fields import RequestFields
from spl.web.rule_check import check_form, check_rules
from spl.web.searches import Searches
from spl.web.statement_check import check_statements
from spl.web.table_view import describe_table, read_named

MEGABYTE = 1_000_000


def _group_operators() -> dict[str, list[str]]:
    """Return the operators to tick, by family; arithmetic is shown by its signs."""
    groups: dict[str, list[str]] = {}
    for row in BUILT_IN.values():
        family = row.traits.family
        groups.setdefault(family.capitalize(), []).append(row.infix if family == "arithmetic" else row.name)
    return groups


OPERATOR_GROUPS = _group_operators()


class StudioRoutes:
    """The routes of a studio that works in one folder."""

    def __init__(self, folder: StudioFolder, searches: Searches, *, max_megabytes: float, jobs: int) -> None:
        self._folder = folder
        self._searches = searches
        self._max_megabytes = max_megabytes
        self._jobs = jobs

    def routes(self) -> list[Route]:
        """Return all routes."""
        return [
            Route("/", self._page),
            Route("/api/studio", self._describe),
            Route("/api/data/{name}", self._take_data, methods=["PUT"]),
            Route("/api/data/{name}", self._describe_data),
            Route("/api/rules", self._check_rules, methods=["POST"]),
            Route("/api/rules/of-operators", self._write_rules, methods=["POST"]),
            Route("/api/form", self._check_form, methods=["POST"]),
            Route("/api/statements", self._check_statements, methods=["POST"]),
            Route("/api/units", self._check_units, methods=["POST"]),
            Route("/api/searches", self._start, methods=["POST"]),
        ]

    async def _page(self, request: Request) -> Response:
        return page("studio.html")

    async def _describe(self, request: Request) -> Response:
        """Return what the page offers."""
        return answer(
            {
                "folder": _short(self._folder.path),
                "max_megabytes": self._max_megabytes,
                "jobs": self._jobs,
                "timeout": TIMEOUT,
                "operators": OPERATOR_GROUPS,
                "ticked": DEFAULT_OPERATORS,
            }
        )

    # ---- data ------------------------------------------------------------------------------------

    async def _take_data(self, request: Request) -> Response:
        """Receive a file, keep it if it is a table, and describe it."""
        name = request.path_params["name"]
        most = int(self._max_megabytes * MEGABYTE)
        message = (
            f"'{self._folder.safe_name(name)}' is larger than the limit of {self._max_megabytes:g} MB. "
            "Leave out rows or columns, or start the studio with a higher --max-megabytes."
        )
        with self._folder.incoming(name) as path:
            with path.open("wb") as file:
                async for piece in read_pieces(request, most, message):
                    file.write(piece)
            await run_in_threadpool(_check_unzipped, path, most, message)
            table = await run_in_threadpool(read_named, path)
            describe_table(table, path.name)
            kept = self._folder.keep(path)
        return answer(await run_in_threadpool(self._view, kept))

    async def _describe_data(self, request: Request) -> Response:
        path = self._folder.data_file(request.path_params["name"])
        missing = tuple(request.query_params.getlist("missing"))
        return answer(await run_in_threadpool(self._view, path, missing))

    def _view(self, path: Path, missing: tuple[str, ...] = ()) -> dict[str, Any]:
        return describe_table(_read_once(path, path.stat().st_mtime_ns, missing), path.name)

    # ---- searches --------------------------------------------------------------------------------

    async def _check_rules(self, request: Request) -> Response:
        """Return what rules describe, or what is wrong with them."""
        fields = RequestFields(await read_json(request))
        return answer(await run_in_threadpool(check_rules, fields.text_or_none("rules") or "", fields.columns()))

    async def _check_statements(self, request: Request) -> Response:
        """Return how many statements about the shape of a law there are, or what is wrong with them."""
        fields = RequestFields(await read_json(request))
        text, target = fields.text_or_none("statements") or "", fields.text_or_none("target") or "y"
        return answer(await run_in_threadpool(check_statements, text, fields.columns(), target))

    async def _check_form(self, request: Request) -> Response:
        """Return what the holes of a form are, or what is wrong with it."""
        fields = RequestFields(await read_json(request))
        return answer(await run_in_threadpool(check_form, fields.text_or_none("form") or "", fields.columns()))

    async def _check_units(self, request: Request) -> Response:
        """Return what units mean, or what is wrong with them; no units are right, too."""
        fields = RequestFields(await read_json(request))
        units, known = read_given_units(fields), fields.text_or_none("known") or ""
        if units is None:  # they were taken out just before
            return answer({"is_right": True, "explanation": ""})
        whole = fields.text_or_none("target") or fields.text_or_none("time") or "t"
        return answer(await run_in_threadpool(check_units, units, known, whole, _reader_of_units(fields)))

    async def _write_rules(self, request: Request) -> Response:
        """Return operators as rules, for the user to edit."""
        fields = RequestFields(await read_json(request))
        allowed = AllowedFormulas(operators=fields.texts("operators"), has_constants=fields.truth("constants", True))
        return answer({"rules": str(await run_in_threadpool(allowed.grammar, fields.columns()))})

    async def _start(self, request: Request) -> Response:
        """Start a search after checking everything that can be checked."""
        wanted = read_request(await read_json(request))
        path = self._folder.data_file(wanted.data)
        table = await run_in_threadpool(_read_once, path, path.stat().st_mtime_ns, wanted.missing)
        notes = await run_in_threadpool(wanted.check, table)
        return answer({"name": await run_in_threadpool(self._searches.start, wanted), "notes": notes}, 201)


def _reader_of_units(fields: RequestFields) -> Callable[[GivenUnits], str]:
    """Return what says what the units of the law or the system of a page mean."""
    names = fields.texts("columns")
    if fields.text("kind") == "law":
        target = fields.text("target")
        return lambda units: explain_law(units.read_law(names, target))
    inputs, order, is_discrete = fields.texts("inputs"), fields.whole("order", 1), fields.truth("discrete")
    return lambda units: explain_system(units.read_system(names, inputs, order, is_discrete=is_discrete))


def _short(path: Path) -> str:
    """Return a path with `~` for the home folder."""
    return f"~/{path.relative_to(Path.home())}" if path.is_relative_to(Path.home()) else str(path)


def _check_unzipped(path: Path, most: int, message: str) -> None:
    """Raise an error if a gzipped file exceeds the limit when unzipped. A broken file is reported when it is read."""
    if path.suffix.lower() != ".gz":
        return
    size = 0
    with gzip.open(path) as file, suppress(OSError, EOFError, zlib.error):
        while piece := file.read(MEGABYTE):
            size += len(piece)
            if size > most:
                raise TooLarge(message)


@lru_cache(maxsize=1)
def _read_once(path: Path, changed: int, missing: tuple[str, ...]) -> Table:
    """Return the table in a file; cached until the file changes."""
    return read_named(path, missing)
