"""What all routes share: bodies of bounded size, and mistakes told as JSON: `{"error": "what is wrong and what to do"}`."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response

from spl.errors import SplError

MAX_JSON = 4_000_000  # bytes; the longest grammar that is read has a million characters
STATIC = Path(__file__).parent / "static"


class TooLarge(SplError):
    """A body of more bytes than are taken."""


async def read_pieces(request: Request, most: int, message: str) -> AsyncIterator[bytes]:
    """Yield the body piece by piece; raise `TooLarge` with the message as soon as it is known to be too long."""
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
    """Return the JSON in a body."""
    pieces = [
        piece async for piece in read_pieces(request, MAX_JSON, f"A request may have {MAX_JSON:,} bytes at most.")
    ]
    try:
        return json.loads(b"".join(pieces))
    except (ValueError, RecursionError):
        raise SplError("The body of the request is not JSON.") from None


def answer(content: Any, status: int = 200) -> Response:
    """Return JSON; NaN and infinity are not allowed in it."""
    return JSONResponse(content, status_code=status)


def page(name: str) -> Response:
    """Return one of our pages."""
    return FileResponse(STATIC / name, media_type="text/html")


async def tell_mistake(request: Request, error: Exception) -> Response:
    """Return what the user did wrong."""
    return answer({"error": str(error)}, 413 if isinstance(error, TooLarge) else 422)


async def tell_status(request: Request, error: Exception) -> Response:
    """Return what is wrong with a request that fits no route."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    return answer({"error": f"{request.method} {request.url.path.split('/', 2)[-1]!r} leads nowhere."}, status)


MISTAKES = {SplError: tell_mistake, HTTPException: tell_status}
