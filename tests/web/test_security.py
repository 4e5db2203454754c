"""Only a browser on this machine that knows the address is served, and only our pages can change anything."""

import asyncio

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route
from tests.web.client import ADDRESS, Client

from spl.web.security import Address, LocalOnly


async def hello(request):
    return PlainTextResponse("hello")


@pytest.fixture
def client():
    routes = [Mount(f"/{ADDRESS.token}", routes=[Route("/", hello, methods=["GET", "POST", "PUT", "DELETE"])])]
    return Client(Starlette(routes=routes))


def test_a_page_of_ours_is_served(client):
    assert client.get("/").text == "hello"
    assert client.get("/", headers={"host": "localhost:8123"}).text == "hello"


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8123", "127.0.0.1", "127.0.0.1:80", "127.0.0.1.evil.example:8123", ""]
)
def test_a_name_that_was_made_to_lead_here_is_turned_away(client, host):
    answer = client.get("/", headers={"host": host})
    assert answer.status_code == 403
    assert "answers only to 127.0.0.1:8123" in answer.json()["error"]


@pytest.mark.parametrize("path", ["/", "/token", "/token-of-the-tesT/", "/static/dom.js", "/%00/", "/tokén/"])
def test_an_address_without_the_token_is_turned_away(client, path):
    answer = client.request("GET", path)
    assert answer.status_code == 403
    assert "token" in answer.json()["error"]


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_a_request_that_changes_something_must_say_where_it_comes_from(client, method):
    answer = client.request(method, f"/{ADDRESS.token}/")
    assert answer.status_code == 403
    assert "name the page it comes from" in answer.json()["error"]


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:9999", "https://127.0.0.1:8123"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_pages_of_others_are_turned_away_even_if_they_know_the_token(client, method, origin):
    answer = client.request(method, f"/{ADDRESS.token}/", headers={"origin": origin})
    assert answer.status_code == 403
    assert answer.json()["error"] == f"Pages of {origin} may not use this server."


def test_a_page_of_ours_may_change_something(client):
    assert client.post("/").status_code == 200


@pytest.mark.parametrize("path", [f"/{ADDRESS.token}/", "/"])
def test_every_answer_forbids_the_browser_what_is_not_ours(client, path):
    headers = client.request("GET", path).headers
    assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "access-control-allow-origin" not in headers


def test_web_sockets_are_refused():
    sent = []

    async def send(message):
        sent.append(message)

    scope = {"type": "websocket", "path": f"/{ADDRESS.token}/", "headers": []}
    asyncio.run(LocalOnly(hello, ADDRESS)(scope, None, send))
    assert [message["type"] for message in sent] == ["websocket.close"]


def test_tokens_cannot_be_guessed():
    tokens = {Address(1).token for _ in range(100)}
    assert len(tokens) == 100
    assert min(map(len, tokens)) >= 32
