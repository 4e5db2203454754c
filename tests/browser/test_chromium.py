"""The browser of the tests: found, installed in the right way, and watched."""

import pytest
from tests.browser import chromium
from tests.browser.chromium import find_chromium

pytestmark = pytest.mark.process


def test_the_browser_that_is_named_is_taken(monkeypatch, tmp_path):
    program = tmp_path / "my-chromium"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("SPL_CHROMIUM", str(program))
    assert find_chromium() == str(program)


def test_a_name_that_leads_nowhere_is_not_replaced_by_another(monkeypatch):
    monkeypatch.setenv("SPL_CHROMIUM", "/no/such/browser")
    assert find_chromium() is None


def test_without_root_rights_and_sudo_only_playwright_installs(monkeypatch):
    monkeypatch.setattr(chromium.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(chromium.shutil, "which", lambda name: None if name == "sudo" else f"/usr/bin/{name}")
    assert [way[-3:] for way in chromium._ways_to_install()] == [["playwright", "install", "chromium"]]


def test_sudo_never_asks_for_a_password(monkeypatch):
    monkeypatch.setattr(chromium.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(chromium.shutil, "which", lambda name: f"/usr/bin/{name}")
    ways = chromium._ways_to_install()
    assert len(ways) > 1
    assert all(way[:2] == ["sudo", "-n"] for way in ways[:-1])


@pytest.mark.parametrize(
    ("script", "complaint"),
    [
        ("console.error('broken')", "broken"),
        ("setTimeout(() => { throw new Error('late') })", "late"),
        ("fetch('http://elsewhere.invalid/').catch(() => 0)", "request to http://elsewhere.invalid/"),
    ],
)
def test_what_goes_wrong_in_a_page_is_noted(page, trouble, script, complaint):
    page.set_content("<p>Hello</p>")
    page.evaluate(script)
    for _ in range(100):
        if any(complaint in line for line in trouble):
            break
        page.wait_for_timeout(50)
    assert any(complaint in line for line in trouble)
    trouble.clear()
