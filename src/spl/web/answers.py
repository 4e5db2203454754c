"""Shared by all routes: request bodies of bounded size, and errors as JSON: `{"error": "what is wrong and what to do"}`."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response

from spl.errors import SplError

MAX_JSON = 4_000_000  # bytes; a grammar may have a million characters
STATIC = Path(__file__).parent / "static"


class TooLarge(SplError):
    """A request body beyond the size limit."""


async def read_pieces(request: Request, most: int, message: str) -> AsyncIterator[bytes]:
    """Yield the body piece by piece; raise `TooLarge` with the message as soon as it exceeds `most` bytes."""
    promised = request.headers.get("content-length", "")
    if promised.isdecimal() and int(promised) > most:
        raise TooLarge(message)
    size = 0
    async for piece in request.stream():
        size += len(piece)
        if size > most:
            raise TooLarge(message)
        yield piece


async def read_json(request: Request) -> Any:
    """Return the JSON value of a request body."""
    pieces = [
        piece async for piece in read_pieces(request, MAX_JSON, f"A request may have at most {MAX_JSON:,} bytes.")
    ]
    try:
        return json.loads(b"".join(pieces))
    except (ValueError, RecursionError):
        raise SplError("The body of the request is not JSON.") from None


def answer(content: Any, status: int = 200) -> Response:
    """Return a JSON response; NaN and infinity are not allowed."""
    return JSONResponse(content, status_code=status)


def page(name: str) -> Response:
    """Return a static page."""
    return FileResponse(STATIC / name, media_type="text/html")


async def answer_user_error(request: Request, error: Exception) -> Response:
    """Return the message of an error that the user caused."""
    return answer({"error": str(error)}, 413 if isinstance(error, TooLarge) else 422)


async def answer_http_error(request: Request, error: Exception) -> Response:
    """Return the message for a request that matches no route."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    return answer({"error": f"{request.method} {request.url.path.split('/', 2)[-1]!r} does not exist."}, status)


ERROR_HANDLERS = {SplError: answer_user_error, HTTPException: answer_http_error}
