"""Request bodies of bounded size, and errors as JSON."""

import asyncio
import json

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request

from spl.errors import SettingError, SplError
from spl.web.answers import MAX_JSON, TooLarge, answer_http_error, answer_user_error, read_json, read_pieces


def make_request(*pieces, path="/token/api/studio", **headers):
    """Return a request whose body comes in these pieces."""
    waiting = [{"type": "http.request", "body": piece, "more_body": True} for piece in pieces]
    waiting.append({"type": "http.request", "body": b"", "more_body": False})

    async def receive():
        return waiting.pop(0)

    names = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": "PUT", "path": path, "headers": names, "query_string": b""}
    return Request(scope | {"server": ("127.0.0.1", 80), "scheme": "http"}, receive)


def read_all(request, most):
    async def read():
        return [piece async for piece in read_pieces(request, most, "too large") if piece]

    return asyncio.run(read())


def test_a_body_within_the_limit_is_read_piece_by_piece():
    assert read_all(make_request(b"ab", b"cd"), 4) == [b"ab", b"cd"]


def test_a_body_beyond_the_limit_is_refused_while_it_is_read():
    with pytest.raises(TooLarge, match="too large"):
        read_all(make_request(b"ab", b"cde"), 4)


def test_a_body_that_announces_too_much_is_refused_before_it_is_read():
    request = make_request(b"a", content_length="5")
    with pytest.raises(TooLarge):
        read_all(request, 4)


@pytest.mark.parametrize("body", [b"{", b"\xff", b"[" * 100_000])
def test_a_body_that_is_not_json_is_an_error_of_the_user(body):
    with pytest.raises(SplError, match="not JSON"):
        asyncio.run(read_json(make_request(body)))


def test_json_is_read_up_to_its_limit():
    assert asyncio.run(read_json(make_request(b'{"a": ', b"1}"))) == {"a": 1}
    with pytest.raises(TooLarge, match=f"at most {MAX_JSON:,} bytes"):
        asyncio.run(read_json(make_request(b" " * MAX_JSON, b"1")))


@pytest.mark.parametrize(("error", "status"), [(SettingError("No."), 422), (TooLarge("No."), 413)])
def test_an_error_of_the_user_is_told_with_its_message(error, status):
    answer = asyncio.run(answer_user_error(make_request(), error))
    assert (answer.status_code, json.loads(answer.body)) == (status, {"error": "No."})


def test_an_unknown_address_is_named_without_the_token():
    answer = asyncio.run(answer_http_error(make_request(path="/token/api/other"), HTTPException(404)))
    assert answer.status_code == 404
    assert json.loads(answer.body) == {"error": "PUT 'api/other' does not exist."}
