"""Who may talk to the pages: only a browser on this machine that was given the address, and only the pages themselves.

Three things are checked before anything else sees a request:

- `Host` is this machine. A stranger's name that was made to lead here (DNS rebinding) is turned away.
- The path begins with the token, which nobody can guess. It is made anew for each server.
- Whatever changes something comes from a page of this server (`Origin`), so that no other page can drive it (CSRF).

Every answer forbids the browser to load anything from elsewhere, to run scripts that are not files of ours, and to show the page
inside another one.
"""

import secrets
from dataclasses import dataclass, field

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOCAL_ADDRESS = "127.0.0.1"
LOCAL_NAMES = (LOCAL_ADDRESS, "localhost")
SAFE_METHODS = ("GET", "HEAD")
TOKEN_BYTES = 24  # 192 random bits

ANSWER_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",  # the address holds the token
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server is found: the port, and a token that nobody can guess.

    Examples:
        >>> Address(8000, token="secret").url
        'http://127.0.0.1:8000/secret/'
    """

    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(TOKEN_BYTES))

    @property
    def url(self) -> str:
        """What people open in their browser."""
        return f"http://{LOCAL_ADDRESS}:{self.port}/{self.token}/"

    @property
    def hosts(self) -> tuple[str, ...]:
        """What a browser that was given this address says it talks to."""
        return tuple(f"{name}:{self.port}" for name in LOCAL_NAMES)

    @property
    def origins(self) -> tuple[str, ...]:
        """Where requests of our own pages come from."""
        return tuple(f"http://{host}" for host in self.hosts)


class LocalOnly:
    """Turns away every request that does not come from a page of ours, and adds what browsers must obey to every answer."""

    def __init__(self, app: ASGIApp, address: Address) -> None:
        self._app = app
        self._address = address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer it with the reason why not."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in ANSWER_HEADERS.items():
                    headers[name] = value
            await send(message)

        reason = find_fault(scope["method"], scope["path"], Headers(scope=scope), self._address)
        handler = JSONResponse({"error": reason}, status_code=403) if reason else self._app
        await handler(scope, receive, send_with_headers)


def find_fault(method: str, path: str, headers: Headers, address: Address) -> str:
    """Return why a request is turned away, or nothing if it may pass."""
    if headers.get("host", "").lower() not in address.hosts:
        return f"This server answers only to {' and '.join(address.hosts)}."
    if not _holds_token(path, address.token):
        return "The address lacks its token. Open the whole address that was printed in the terminal."
    origin = headers.get("origin")
    if origin is None and method not in SAFE_METHODS:
        return "A request that changes something must say which page it comes from."
    if origin is not None and origin.lower() not in address.origins:
        return f"Pages of {origin} may not use this server."
    return ""


def _holds_token(path: str, token: str) -> bool:
    given = path.removeprefix("/").partition("/")[0]
    return secrets.compare_digest(given.encode(), token.encode())
