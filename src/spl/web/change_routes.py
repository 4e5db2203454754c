"""Routes of the studio for runs that are not running: continue, fill the form with its settings, rename, delete."""

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from spl.errors import SettingError
from spl.settings import TIMEOUT
from spl.web.answers import answer, read_json
from spl.web.request import check_seconds, write_request
from spl.web.request_fields import RequestFields
from spl.web.run_list import FolderRuns
from spl.web.searches import Searches


class ChangeRoutes:
    """The routes that change the runs of a folder."""

    def __init__(self, runs: FolderRuns, searches: Searches) -> None:
        self._runs = runs
        self._searches = searches

    def routes(self) -> list[Route]:
        """Return all routes."""
        return [
            Route("/api/runs/{name}/request", self._request),
            Route("/api/runs/{name}/continue", self._continue, methods=["POST"]),
            Route("/api/runs/{name}/rename", self._rename, methods=["POST"]),
            Route("/api/runs/{name}", self._delete, methods=["DELETE"]),
        ]

    async def _request(self, request: Request) -> Response:
        """Return the request that started a run."""
        name = request.path_params["name"]
        found = await run_in_threadpool(self._searches.request, name)
        if found is None:
            raise SettingError(f"'{name}' was not started in a studio, so the form cannot be filled with its settings.")
        return answer(write_request(found))

    async def _continue(self, request: Request) -> Response:
        seconds = RequestFields(await read_json(request)).number("seconds", TIMEOUT)
        check_seconds(seconds)
        await run_in_threadpool(self._runs.resume, request.path_params["name"], seconds)
        return answer({})

    async def _rename(self, request: Request) -> Response:
        wanted = RequestFields(await read_json(request)).text("name")
        return answer({"name": await run_in_threadpool(self._runs.rename, request.path_params["name"], wanted)})

    async def _delete(self, request: Request) -> Response:
        await run_in_threadpool(self._runs.delete, request.path_params["name"])
        return answer({})
