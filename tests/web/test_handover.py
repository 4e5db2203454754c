"""The address reaches the browser in a file that only the user can read, never in the arguments of a process."""

import os
import signal
import stat
import sys
import textwrap
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from tests.web.process import SECONDS, SPL, heed_ctrl_c, read_address, wait_until

from spl.web.handover import handover_file

pytestmark = pytest.mark.process

URL = "http://127.0.0.1:8000/secret-token/"


def test_the_file_leads_to_the_address_and_only_its_owner_can_read_it():
    with handover_file(URL) as path:
        assert f'content="0; url={URL}"' in path.read_text()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert "secret" not in str(path)
    assert not path.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc, and names a browser by BROWSER")
def test_no_process_has_the_token_among_its_arguments(tmp_path):
    """Our own script, as the browser, records how it was called and what it could read."""
    import subprocess

    browser = tmp_path / "browser"
    browser.write_text(
        textwrap.dedent(f"""\
            #!{sys.executable}
            import pathlib, sys, urllib.parse
            name = urllib.parse.unquote(urllib.parse.urlsplit(sys.argv[1]).path)
            pathlib.Path({str(tmp_path)!r}, "page").write_text(pathlib.Path(name).read_text())
            pathlib.Path({str(tmp_path)!r}, "called.part").write_text(sys.argv[1])
            pathlib.Path({str(tmp_path)!r}, "called.part").rename(pathlib.Path({str(tmp_path)!r}, "called"))
        """)
    )
    browser.chmod(0o755)
    process = subprocess.Popen(
        [*SPL, "studio"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1", "BROWSER": f"{browser} %s", "TMPDIR": str(tmp_path)},
        preexec_fn=heed_ctrl_c,
    )
    try:
        url = read_address(process)
        wait_until((tmp_path / "called").exists, "the browser")
        token = urlsplit(url).path.strip("/")
        called = (tmp_path / "called").read_text()
        assert called.startswith("file:")
        assert token not in called
        assert url in (tmp_path / "page").read_text()
        assert token not in Path(f"/proc/{process.pid}/cmdline").read_text()
        handed = Path(unquote(urlsplit(called).path))
        assert handed.exists()
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=SECONDS)
    assert not handed.exists()
