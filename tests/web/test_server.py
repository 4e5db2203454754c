"""The server as a process: where it listens, which requests it answers, how it ends."""

import http.client
import signal
import socket
from urllib.parse import urlsplit

import pytest
from tests.web.process import SECONDS, serving

from spl.errors import SettingError
from spl.web.server import open_socket

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    with serving("studio", folder=tmp_path_factory.mktemp("server")) as (_, address):
        yield urlsplit(address)


def ask(address, method, path, **headers):
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=SECONDS)
    try:
        connection.request(method, path, headers=headers)
        return connection.getresponse().status
    finally:
        connection.close()


def test_a_port_that_is_free_is_found_on_this_machine_only():
    with open_socket(0) as listener:
        host, port = listener.getsockname()
        assert host == "127.0.0.1"
        assert port > 0


def test_a_port_that_is_taken_is_named():
    with open_socket(0) as listener:
        listener.listen()
        port = listener.getsockname()[1]
        with pytest.raises(SettingError, match=f"Port {port} cannot be used"):
            open_socket(port)


@pytest.mark.parametrize("port", [-1, 70_000])
def test_a_port_that_cannot_be_is_named(port):
    with pytest.raises(SettingError, match=f"got {port}"):
        open_socket(port)


def test_whoever_has_the_address_is_served(studio):
    assert ask(studio, "GET", studio.path) == 200


def test_a_foreign_name_for_this_machine_is_turned_away(studio):
    assert ask(studio, "GET", studio.path, Host="evil.example") == 403
    assert ask(studio, "GET", studio.path, Host=f"evil.example:{studio.port}") == 403


def test_a_foreign_page_cannot_start_a_search(studio):
    path = f"{studio.path}api/searches"
    assert ask(studio, "POST", path) == 403
    assert ask(studio, "POST", path, Origin="http://evil.example") == 403
    assert ask(studio, "POST", path, Origin=f"http://127.0.0.1:{studio.port}") == 422


def test_without_the_token_there_is_nothing(studio):
    assert ask(studio, "GET", "/") == 403


def test_nobody_answers_on_other_addresses_of_this_machine(studio):
    others = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), studio.port, socket.AF_INET)}
    for host in (others | {"127.0.0.2"}) - {"127.0.0.1"}:
        with socket.socket() as probe:
            probe.settimeout(2)
            assert probe.connect_ex((host, studio.port)) != 0


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_ends_quietly_when_it_is_told_to(kind, tmp_path):
    with serving("studio", folder=tmp_path) as (process, address):
        url = urlsplit(address)
        connection = http.client.HTTPConnection(url.hostname, url.port, timeout=SECONDS)
        connection.request("GET", f"{url.path}api/studio")  # and a connection stays open
        connection.getresponse().read()
        process.send_signal(kind)
        said, _ = process.communicate(timeout=SECONDS)
        connection.close()
    assert "Traceback" not in said
    assert process.returncode in (0, -signal.SIGTERM, -signal.SIGHUP)
