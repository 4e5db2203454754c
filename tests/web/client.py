"""Requests to an application without a network, as a browser on this machine would send them."""

import asyncio
from collections.abc import Mapping

import httpx

from spl.web.security import Address, LocalOnly

ADDRESS = Address(8123, token="token-of-the-test")
OWN_PAGE = {"origin": "http://127.0.0.1:8123"}


class Client:
    def __init__(self, app):
        self._app = LocalOnly(app, ADDRESS)

    def request(self, method, path, *, headers: Mapping[str, str] | None = None, **more) -> httpx.Response:
        """Send a request as it is, to a path from the root."""

        async def send():
            transport = httpx.ASGITransport(self._app)
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8123") as client:
                return await client.request(method, path, headers=headers, **more)

        return asyncio.run(send())

    def get(self, path, **more) -> httpx.Response:
        return self.request("GET", f"/{ADDRESS.token}{path}", **more)

    def post(self, path, **more) -> httpx.Response:
        return self.request("POST", f"/{ADDRESS.token}{path}", headers=OWN_PAGE, **more)

    def put(self, path, **more) -> httpx.Response:
        return self.request("PUT", f"/{ADDRESS.token}{path}", headers=OWN_PAGE, **more)
