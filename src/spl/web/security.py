"""Access control: only a browser on this machine that knows the address may use the pages, and only the pages may use the server.

Three checks come before anything else sees a request:

- `Host` is this machine. A foreign name that resolves to this machine (DNS rebinding) is rejected.
- The path begins with the secret token, which is new for each server.
- Requests that change something come from a page of this server (`Origin`), so that no other page can send them (CSRF).

Every answer forbids the browser to load anything from elsewhere, to run scripts other than the server's files, and to show the page
inside another page.
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
    "referrer-policy": "no-referrer",  # the address contains the token
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a server: the port, and a secret token.

    Examples:
        >>> Address(8000, token="secret").url
        'http://127.0.0.1:8000/secret/'
    """

    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(TOKEN_BYTES))

    @property
    def url(self) -> str:
        """The address to open in a browser."""
        return f"http://{LOCAL_ADDRESS}:{self.port}/{self.token}/"

    @property
    def hosts(self) -> tuple[str, ...]:
        """Allowed values of the `Host` header."""
        return tuple(f"{name}:{self.port}" for name in LOCAL_NAMES)

    @property
    def origins(self) -> tuple[str, ...]:
        """Allowed values of the `Origin` header."""
        return tuple(f"http://{host}" for host in self.hosts)


class LocalOnly:
    """Rejects every request that does not come from a page of this server, and adds security headers to every answer."""

    def __init__(self, app: ASGIApp, address: Address) -> None:
        self._app = app
        self._address = address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer with the reason for rejecting it."""
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
    """Return why a request is rejected; empty if it is allowed."""
    if headers.get("host", "").lower() not in address.hosts:
        return f"This server answers only to {' and '.join(address.hosts)}. Open the address printed in the terminal."
    if not _holds_token(path, address.token):
        return "The address lacks its token. Open the whole address printed in the terminal."
    origin = headers.get("origin")
    if origin is None and method not in SAFE_METHODS:
        return "A request that changes something must name the page it comes from in `Origin`."
    if origin is not None and origin.lower() not in address.origins:
        return f"Pages of {origin} may not use this server."
    return ""


def _holds_token(path: str, token: str) -> bool:
    given = path.removeprefix("/").partition("/")[0]
    return secrets.compare_digest(given.encode(), token.encode())
