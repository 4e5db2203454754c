"""What pages can ask about runs: which there are, news of one while it goes on, fits, code, its report; and to stop it."""

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
from spl.web.answers import answer
from spl.web.run_fits import describe_curves, describe_fit, write_code
from spl.web.run_list import Shelf

PAUSE_SECONDS = 0.5  # between two looks at a run
BUSY_SHARE = 0.2  # of the time, at most, goes into reading a large run
QUIET_SECONDS = 15.0  # after which a page is told that nothing is new
RESTING = ("finished", "interrupted", "died", "failed")
ENDINGS = {
    "sympy": "txt",
    "latex": "tex",
    "python": "py",
    "c": "c",
    "julia": "jl",
    "matlab": "m",
    "torch": "py",
    "jax": "py",
}  # of the files that formulas are saved in


class RunRoutes:
    """The routes about the runs on a shelf; news end when the server does."""

    def __init__(self, shelf: Shelf, is_closing: Event) -> None:
        self._shelf = shelf
        self._is_closing = is_closing

    def routes(self) -> list[Route]:
        """Return them all."""
        return [
            Route("/api/runs", self._list),
            Route("/api/runs/{name}/events", self._follow),
            Route("/api/runs/{name}/fit", self._fit),
            Route("/api/runs/{name}/curves", self._curves),
            Route("/api/runs/{name}/code", self._code),
            Route("/api/runs/{name}/report", self._report),
            Route("/api/runs/{name}/stop", self._stop, methods=["POST"]),
        ]

    async def _list(self, request: Request) -> Response:
        entries = await run_in_threadpool(self._shelf.entries)
        return answer({"runs": [asdict(entry) for entry in entries]})

    async def _stop(self, request: Request) -> Response:
        await run_in_threadpool(self._shelf.stop, request.path_params["name"])
        return answer({})

    # ---- news ------------------------------------------------------------------------------------

    async def _follow(self, request: Request) -> Response:
        """Send what is known about a run, and again whenever it changes, until it rests."""
        name = request.path_params["name"]
        view = await run_in_threadpool(self._shelf.view, name)
        return StreamingResponse(self._news(name, view), media_type="text/event-stream")

    async def _news(self, name: str, view: dict[str, Any]) -> AsyncIterator[str]:
        told, told_at, pause = "", time.monotonic(), PAUSE_SECONDS
        while not self._is_closing.is_set():
            text = json.dumps(view, allow_nan=False)
            if text != told:
                yield f"data: {text}\n\n"
                told, told_at = text, time.monotonic()
            elif time.monotonic() - told_at > QUIET_SECONDS:
                yield ": nothing new\n\n"
                told_at = time.monotonic()
            if view["status"] in RESTING:
                return
            await asyncio.sleep(pause)
            began = time.monotonic()
            try:
                view = await run_in_threadpool(self._shelf.view, name)
            except SplError as error:  # the file was deleted, or a full disk broke it
                yield f"data: {json.dumps(view | {'status': 'failed', 'error': str(error)})}\n\n"
                return
            pause = max(PAUSE_SECONDS, (time.monotonic() - began) / BUSY_SHARE)

    # ---- what is asked for one by one ------------------------------------------------------------

    async def _fit(self, request: Request) -> Response:
        law, cost = _number(request, "law"), _number(request, "cost")
        return answer(await run_in_threadpool(lambda: describe_fit(self._read(request), law, cost)))

    async def _curves(self, request: Request) -> Response:
        return answer({"curves": await run_in_threadpool(lambda: describe_curves(self._read(request)))})

    async def _code(self, request: Request) -> Response:
        """Return a formula in another language, or without `law` the whole system, to look at or to save."""
        language = check_format(request.query_params.get("format", "python"))
        run = await run_in_threadpool(self._read, request)
        if "law" in request.query_params:
            law, cost = _number(request, "law"), _number(request, "cost")
            code = await run_in_threadpool(write_code, run, law, cost, language)
        elif run.system is not None:
            code = await run_in_threadpool(export_system, run.system.system, language)
        else:
            raise SettingError("The run has no system (yet). Name one of its formulas: `law` and `cost`.")
        if "save" not in request.query_params:
            return answer({"code": code})
        return _as_file(code, "text/plain", f"formula.{ENDINGS[language]}")

    async def _report(self, request: Request) -> Response:
        html = await run_in_threadpool(lambda: write_page(report_of_run(self._read(request))))
        return _as_file(html, "text/html", "report.html")

    def _read(self, request: Request) -> StoredRun:
        return read_run(self._shelf.path(request.path_params["name"]))


def _number(request: Request, name: str) -> int:
    text = request.query_params.get(name, "")
    if not text.isdecimal() or len(text) > 9:
        raise SettingError(f"`{name}` must be a whole number; got {text!r}.")
    return int(text)


def _as_file(text: str, kind: str, name: str) -> Response:
    """Return text that a browser saves and never shows: it may hold what others wrote."""
    return Response(text, media_type=kind, headers={"content-disposition": f'attachment; filename="{name}"'})
