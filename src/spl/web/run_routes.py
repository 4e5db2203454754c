"""Routes about runs: the list, updates of a run in progress, fits, how sure a formula is, code and report; and to stop a run."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from dataclasses import asdict
from threading import Event
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from spl.errors import SettingError, SplError
from spl.notation.export import check_format, export_system
from spl.report.from_run import report_of_run
from spl.report.page import write_page
from spl.runs.reader import StoredRun, read_run
from spl.units.system_units import fill_known
from spl.web.answers import answer
from spl.web.run_fits import describe_curves, describe_fit, write_code
from spl.web.run_groups import describe_groups
from spl.web.run_list import RunList
from spl.web.run_sure import describe_how_sure, draw_system_numbers

POLL_SECONDS = 0.5  # between two reads of a run
BUSY_SHARE = 0.2  # largest share of the time spent reading a large run
QUIET_SECONDS = 15.0  # after which a page gets a sign of life
ENDED_STATUSES = ("finished", "interrupted", "died", "failed")
CODE_ENDINGS = {
    "sympy": "txt",
    "latex": "tex",
    "python": "py",
    "c": "c",
    "julia": "jl",
    "matlab": "m",
    "torch": "py",
    "jax": "py",
}  # of saved files, by language


class RunRoutes:
    """The routes about the runs in a list; updates end when the server does."""

    def __init__(self, runs: RunList, is_closing: Event) -> None:
        self._runs = runs
        self._is_closing = is_closing

    def routes(self) -> list[Route]:
        """Return all routes."""
        return [
            Route("/api/runs", self._list),
            Route("/api/runs/{name}/events", self._follow),
            Route("/api/runs/{name}/fit", self._fit),
            Route("/api/runs/{name}/sure", self._sure),
            Route("/api/runs/{name}/groups", self._groups),
            Route("/api/runs/{name}/curves", self._curves),
            Route("/api/runs/{name}/code", self._code),
            Route("/api/runs/{name}/report", self._report),
            Route("/api/runs/{name}/stop", self._stop, methods=["POST"]),
        ]

    async def _list(self, request: Request) -> Response:
        entries = await run_in_threadpool(self._runs.entries)
        return answer({"runs": [asdict(entry) for entry in entries]})

    async def _stop(self, request: Request) -> Response:
        await run_in_threadpool(self._runs.stop, request.path_params["name"])
        return answer({})

    # ---- updates ---------------------------------------------------------------------------------

    async def _follow(self, request: Request) -> Response:
        """Send the state of a run, and again whenever it changes, until the run has ended."""
        name = request.path_params["name"]
        view = await run_in_threadpool(self._runs.view, name)
        return StreamingResponse(self._updates(name, view), media_type="text/event-stream")

    async def _updates(self, name: str, view: dict[str, Any]) -> AsyncIterator[str]:
        sent, sent_at, pause = "", time.monotonic(), POLL_SECONDS
        while not self._is_closing.is_set():
            text = json.dumps(view, allow_nan=False)
            if text != sent:
                yield f"data: {text}\n\n"
                sent, sent_at = text, time.monotonic()
            elif time.monotonic() - sent_at > QUIET_SECONDS:
                yield ": nothing new\n\n"
                sent_at = time.monotonic()
            if view["status"] in ENDED_STATUSES:
                return
            await asyncio.sleep(pause)
            began = time.monotonic()
            try:
                view = await run_in_threadpool(self._runs.view, name)
            except SplError as error:  # the file was deleted, or a full disk broke it
                yield f"data: {json.dumps(view | {'status': 'failed', 'error': str(error)})}\n\n"
                return
            pause = max(POLL_SECONDS, (time.monotonic() - began) / BUSY_SHARE)

    # ---- single requests -------------------------------------------------------------------------

    async def _fit(self, request: Request) -> Response:
        law, cost = _number(request, "law"), _number(request, "cost")
        return answer(await run_in_threadpool(lambda: describe_fit(self._read(request), law, cost)))

    async def _sure(self, request: Request) -> Response:
        cost = _number(request, "cost")
        return answer(await run_in_threadpool(lambda: describe_how_sure(self._read(request), cost)))

    async def _groups(self, request: Request) -> Response:
        cost = _number(request, "cost")
        return answer(await run_in_threadpool(lambda: describe_groups(self._read(request), cost)))

    async def _curves(self, request: Request) -> Response:
        run = await run_in_threadpool(self._read, request)
        return answer({"curves": await run_in_threadpool(describe_curves, run), "numbers": draw_system_numbers(run)})

    async def _code(self, request: Request) -> Response:
        """Return a formula in another language, or the whole system without `law`; with `save`, as a file."""
        language = check_format(request.query_params.get("format", "python"))
        run = await run_in_threadpool(self._read, request)
        if "law" in request.query_params:
            law, cost = _number(request, "law"), _number(request, "cost")
            code = await run_in_threadpool(write_code, run, law, cost, language)
        elif run.system is not None:
            filled = fill_known(run.system.system, run.system_units)
            code = await run_in_threadpool(export_system, filled, language)
        else:
            raise SettingError("The run has no system yet. Name one of its formulas with `law` and `cost`.")
        if "save" not in request.query_params:
            return answer({"code": code})
        return _as_file(code, "text/plain", f"formula.{CODE_ENDINGS[language]}")

    async def _report(self, request: Request) -> Response:
        html = await run_in_threadpool(lambda: write_page(report_of_run(self._read(request))))
        return _as_file(html, "text/html", "report.html")

    def _read(self, request: Request) -> StoredRun:
        return read_run(self._runs.path(request.path_params["name"]))


def _number(request: Request, name: str) -> int:
    text = request.query_params.get(name, "")
    if not text.isdecimal() or len(text) > 9:
        raise SettingError(f"`{name}` must be a whole number; got {text!r}.")
    return int(text)


def _as_file(text: str, kind: str, name: str) -> Response:
    """Return text that a browser saves and never shows, because it may contain text from strangers."""
    return Response(text, media_type=kind, headers={"content-disposition": f'attachment; filename="{name}"'})
