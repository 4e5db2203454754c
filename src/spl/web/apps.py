"""The two applications: the page of one run, and the studio. Each is made for one token and one server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Event

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from spl.runs.regression import request_stop
from spl.web.answers import ERROR_HANDLERS, STATIC, page
from spl.web.change_routes import ChangeRoutes
from spl.web.folder import StudioFolder
from spl.web.run_list import FolderRuns, OneRun
from spl.web.run_routes import RunRoutes
from spl.web.searches import Searches
from spl.web.studio_routes import StudioRoutes


def make_watch_app(run: str | Path, token: str, is_closing: Event) -> Starlette:
    """Return the page that follows one run."""

    async def show(request: Request) -> Response:
        return page("watch.html")

    routes = [Route("/", show), *RunRoutes(OneRun(run), is_closing).routes()]
    return Starlette(routes=[_under(token, routes)], exception_handlers=ERROR_HANDLERS)


def make_studio_app(
    folder: StudioFolder, token: str, is_closing: Event, *, max_megabytes: float, jobs: int
) -> Starlette:
    """Return the studio of a folder; when it ends, it stops its searches with the best so far."""
    searches = Searches(folder, request_stop)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        await run_in_threadpool(searches.end_all)

    studio = StudioRoutes(folder, searches, max_megabytes=max_megabytes, jobs=jobs)
    runs = FolderRuns(folder, searches)
    routes = [*studio.routes(), *RunRoutes(runs, is_closing).routes(), *ChangeRoutes(runs, searches).routes()]
    return Starlette(routes=[_under(token, routes)], exception_handlers=ERROR_HANDLERS, lifespan=lifespan)


def _under(token: str, routes: list[Route]) -> Mount:
    """Return routes and static files below the token."""
    return Mount(f"/{token}", routes=[*routes, Mount("/static", StaticFiles(directory=STATIC))])
