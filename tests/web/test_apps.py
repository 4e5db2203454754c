"""The two applications: which pages they serve, and how the studio ends."""

import asyncio
from threading import Event

import pytest
from tests.web.client import ADDRESS

from spl.errors import RunFileError
from spl.web import apps
from spl.web.apps import make_studio_app, make_watch_app


@pytest.mark.parametrize("client", ["watch", "studio"])
def test_pages_and_their_files_are_served_below_the_token(client, request):
    page = request.getfixturevalue(client)
    assert f"static/{client}.js" in page.get("/").text
    assert page.get(f"/static/{client}.js").status_code == 200
    assert page.get("/static/../apps.py").status_code == 404


def test_a_page_cannot_watch_a_file_that_is_no_run(tmp_path):
    with pytest.raises(RunFileError, match=r"nothing\.spl"):
        make_watch_app(tmp_path / "nothing.spl", ADDRESS.token, Event())


def test_the_studio_ends_its_searches_when_it_ends(folder, monkeypatch):
    ended = []
    monkeypatch.setattr(apps.Searches, "end_all", lambda self: ended.append(self))
    app = make_studio_app(folder, ADDRESS.token, Event(), max_megabytes=1.0, jobs=1)

    async def live():
        async with app.router.lifespan_context(app):
            assert ended == []

    asyncio.run(live())
    assert len(ended) == 1
