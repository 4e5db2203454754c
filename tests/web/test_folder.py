"""The folder of a studio: names that come from a browser never lead out of it."""

import os
import stat

import pytest

from spl.errors import DataError, SettingError
from spl.web.folder import StudioFolder


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "secret.csv").write_text("a,b\n1,2\n")
    return StudioFolder.open(tmp_path / "studio")


def put(folder, name, text="a,b\n1,2\n"):
    with folder.incoming(name) as path:
        path.write_text(text)
        return folder.keep(path)


def test_a_new_folder_is_open_to_its_owner_alone(folder):
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_to_is_named(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(SettingError, match="cannot be"):
        StudioFolder.open(tmp_path / "inside")
    tmp_path.chmod(0o700)


def test_a_folder_in_the_place_of_a_file_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingError, match="cannot be created"):
        StudioFolder.open(tmp_path / "file")


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("planets.csv", "planets.csv"),
        ("../../planets.csv", "planets.csv"),
        ("..\\..\\planets.csv", "planets.csv"),
        ("/etc/passwd", "passwd"),
        (".hidden.csv", "hidden.csv"),
        ("--target=y.csv", "target_y.csv"),
        ("..", "data"),
        ("", "data"),
        ("a\0b\nc.csv", "a_b_c.csv"),
        ("Bälle (2).csv.gz", "Bälle (2).csv.gz"),
        ("x" * 300 + ".csv", "x" * 96 + ".csv"),
        ("my.data.csv", "my.data.csv"),
    ],
)
def test_a_name_becomes_one_plain_file_name(given, kept):
    assert StudioFolder.safe_name(given) == kept
    assert StudioFolder.safe_name(kept) == kept


@pytest.mark.parametrize("name", ["../secret.csv", "..", "", ".", "studio/../../secret.csv", "nothing.csv", "a\0.csv"])
def test_files_elsewhere_do_not_exist(folder, name):
    with pytest.raises(DataError, match="There is no data file"):
        folder.data_file(name)
    with pytest.raises(DataError, match="There is no run"):
        folder.run_file(name)


def test_links_out_of_the_folder_do_not_exist(folder):
    (folder.path / "link.csv").symlink_to(folder.path.parent / "secret.csv")
    with pytest.raises(DataError):
        folder.data_file("link.csv")


def test_run_files_are_no_data(folder):
    for name in ("a.spl", "a.spl-lock", "a.log", "a.rules"):
        (folder.path / name).write_text("")
        with pytest.raises(DataError):
            folder.data_file(name)


def test_a_file_is_kept_under_its_name_and_the_same_file_only_once(folder):
    first, again = put(folder, "data.csv"), put(folder, "data.csv")
    other = put(folder, "data.csv", "a,b\n3,4\n")
    assert [first.name, again.name, other.name] == ["data.csv", "data.csv", "data (2).csv"]
    assert folder.data_file("data (2).csv").read_text() == "a,b\n3,4\n"


def test_a_file_that_is_not_kept_leaves_nothing_behind(folder):
    with folder.incoming("data.csv") as path:
        path.write_text("a")
    assert list(folder.path.iterdir()) == []


def test_runs_are_named_after_their_data_and_never_twice(folder):
    data = put(folder, "balls.csv")
    runs = [folder.new_run(data).name for _ in range(3)]
    assert runs == ["balls-1.spl", "balls-2.spl", "balls-3.spl"]


def test_a_run_that_is_there_is_never_written_over(folder):
    (folder.path / "balls-1.spl").write_text("a run")
    assert folder.new_run(put(folder, "balls.csv")).name == "balls-2.spl"
