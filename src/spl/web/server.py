"""Serving pages on this machine until Ctrl-C: the socket, the address, the browser, the end."""

import signal
import socket
from collections.abc import Callable
from contextlib import ExitStack
from threading import Event, current_thread, main_thread
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from spl.errors import SettingError
from spl.web.handover import handover_file, open_in_browser
from spl.web.security import LOCAL_ADDRESS, Address, LocalOnly

MAX_PORT = 65_535
END_SECONDS = 3  # for answers under way when the server ends

MakeApp = Callable[[str, Event], ASGIApp]


def open_socket(port: int) -> socket.socket:
    """Return a socket that listens on this machine only; port 0 is one that is free."""
    if not 0 <= port <= MAX_PORT:
        raise SettingError(f"`port` must be from 0, which is any that is free, to {MAX_PORT}; got {port}.")
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((LOCAL_ADDRESS, port))
    except OSError as error:
        listener.close()
        raise SettingError(
            f"Port {port} cannot be used: {error.strerror}. Name another one, or none for one that is free."
        ) from None
    return listener


def serve(make_app: MakeApp, *, port: int, opens_browser: bool, say: Callable[[str], None]) -> None:
    """Serve an application until Ctrl-C. It is made for a token, and with an event that is set when the end begins."""
    with ExitStack() as opened:
        listener = opened.enter_context(open_socket(port))
        address = Address(listener.getsockname()[1])
        is_closing = Event()
        app = LocalOnly(make_app(address.token, is_closing), address)

        def announce() -> None:
            """Tell people the address once somebody listens there."""
            say(f"The page is at {address.url}\nOnly this machine can open it. Ctrl-C ends it.")
            if opens_browser:
                open_in_browser(opened.enter_context(handover_file(address.url)))

        server = _Server(app, is_closing, announce)
        try:
            server.run(sockets=[listener])
        except KeyboardInterrupt:
            say("")


class _Server(uvicorn.Server):
    """A server that says when it is there and when it begins to end, and writes no log: addresses hold the token."""

    def __init__(self, app: ASGIApp, is_closing: Event, announce: Callable[[], None]) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                access_log=False,
                log_level="error",
                server_header=False,
                proxy_headers=False,
                ws="none",
                timeout_graceful_shutdown=END_SECONDS,
            )
        )
        self._is_closing = is_closing
        self._announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        if hasattr(signal, "SIGHUP") and current_thread() is main_thread():  # the terminal was closed
            signal.signal(signal.SIGHUP, self.handle_exit)
        if not self.should_exit:
            self._announce()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to end; pages that wait for news are told."""
        self._is_closing.set()
        super().handle_exit(sig, frame)
