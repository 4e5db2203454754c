"""Serves pages on this machine until Ctrl-C: socket, address, browser, shutdown."""

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
SHUTDOWN_SECONDS = 3  # for answers in progress when the server ends

MakeApp = Callable[[str, Event], ASGIApp]


def open_socket(port: int) -> socket.socket:
    """Return a socket that listens only on this machine; port 0 is any free port."""
    if not 0 <= port <= MAX_PORT:
        raise SettingError(f"`port` must be 0 (any free port) to {MAX_PORT}; got {port}.")
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((LOCAL_ADDRESS, port))
    except OSError as error:
        listener.close()
        raise SettingError(
            f"Port {port} cannot be used: {error.strerror}. Choose another, or leave out --port for any free one."
        ) from None
    return listener


def serve(make_app: MakeApp, *, port: int, opens_browser: bool, say: Callable[[str], None]) -> None:
    """Serve an application until Ctrl-C. `make_app` gets the token, and an event that is set when the shutdown begins."""
    with ExitStack() as opened:
        listener = opened.enter_context(open_socket(port))
        address = Address(listener.getsockname()[1])
        is_closing = Event()
        app = LocalOnly(make_app(address.token, is_closing), address)

        def announce() -> None:
            """Print the address once the server listens there."""
            say(f"The page is at {address.url}\nOnly this machine can open it. Press Ctrl-C to end it.")
            if opens_browser:
                open_in_browser(opened.enter_context(handover_file(address.url)))

        server = _Server(app, is_closing, announce)
        try:
            server.run(sockets=[listener])
        except KeyboardInterrupt:
            say("")


class _Server(uvicorn.Server):
    """A server that announces its start and its shutdown, and writes no log, because addresses contain the token."""

    def __init__(self, app: ASGIApp, is_closing: Event, announce: Callable[[], None]) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                access_log=False,
                log_level="error",
                server_header=False,
                proxy_headers=False,
                ws="none",
                timeout_graceful_shutdown=SHUTDOWN_SECONDS,
            )
        )
        self._is_closing = is_closing
        self._announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen."""
        await super().startup(sockets)
        if hasattr(signal, "SIGHUP") and current_thread() is main_thread():  # the terminal was closed
            signal.signal(signal.SIGHUP, self.handle_exit)
        if not self.should_exit:
            self._announce()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Start the shutdown, and end the streams of updates."""
        self._is_closing.set()
        super().handle_exit(sig, frame)
