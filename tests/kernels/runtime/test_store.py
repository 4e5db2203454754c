"""The store of compiled kernels: what was written is read, what is damaged is not, and it stays within its bound."""

import functools
import os
import shutil
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from spl.kernels.runtime import store

NAME = "kernel-abc.nbc"
CLAIM = f"{NAME}.claim"
DAY = 86_400.0


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """An empty cache, with an empty folder to substitute for it."""
    substitute = functools.cache(lambda: tmp_path / "substitute")
    monkeypatch.setattr(store, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(store, "kernel_folder", lambda: tmp_path / "cache" / "kernels")
    monkeypatch.setattr(store, "_substitute_folder", substitute)
    monkeypatch.setattr(store, "troubles", [])
    return tmp_path / "cache"


def make_file(path, age=0.0, size=1):
    """Write a file that was last used some seconds ago."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(size * b"x")
    set_age(path, age)
    return path


def set_age(path, age):
    os.utime(path, 2 * (time.time() - age,))


def files_of(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


# ---- where the cache is --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({"SPL_CACHE": "/chosen", "XDG_CACHE_HOME": "/user", "HOME": "/home/me"}, "/chosen"),
        ({"XDG_CACHE_HOME": "/user", "HOME": "/home/me"}, "/user"),
        ({"SPL_CACHE": "", "XDG_CACHE_HOME": "", "HOME": "/home/me"}, "/home/me/.cache"),
    ],
)
def test_the_cache_is_where_the_environment_says(environment, folder, monkeypatch):
    monkeypatch.undo()
    for name in ("SPL_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert store.cache_folder.__wrapped__().as_posix() == f"{folder}/symbolic-physics-learner"


# ---- files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["", (1, b"machine code", {"a": [2.5]}), np.dtype([("n", np.int64)])])
def test_what_is_written_is_read(value, cache):
    store.write(NAME, value)
    assert store.contains(NAME)
    assert store.read(NAME) == value
    assert files_of(cache) == [f"kernels/{NAME}"]
    assert store.troubles == []


def test_a_damaged_file_is_noted_once(cache):
    store.write(NAME, "code")
    (cache / "kernels" / NAME).write_bytes(b"something else")
    assert [store.read(NAME), store.read(NAME)] == [None, None]
    assert store.troubles == [f"A compiled kernel in '{cache / 'kernels'}' was damaged; it is compiled again."]


def test_a_folder_that_is_deleted_meanwhile_is_made_again_with_a_note(cache):
    store.write(NAME, "code")
    shutil.rmtree(cache / "kernels")
    store.write(NAME, "code")
    assert store.read(NAME) == "code"
    assert len(store.troubles) == 1
    assert f"'{cache / 'kernels'}' were deleted meanwhile" in store.troubles[0]


def test_the_last_value_counts():
    for value in ("old", "new"):
        store.write(NAME, value)
    assert store.read(NAME) == "new"


def test_what_was_never_written_is_missing():
    assert not store.contains(NAME)
    assert store.read(NAME) is None


def test_a_file_that_was_cut_short_at_any_place_is_not_read(cache):
    store.write(NAME, ("some", 1.5))
    content = (cache / "kernels" / NAME).read_bytes()
    for size in range(len(content)):
        (cache / "kernels" / NAME).write_bytes(content[:size])
        assert store.read(NAME) is None


def test_a_file_with_any_other_byte_is_not_read(cache):
    store.write(NAME, ("some", 1.5))
    content = (cache / "kernels" / NAME).read_bytes()
    for at in range(len(content)):
        (cache / "kernels" / NAME).write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        assert store.read(NAME) is None


@pytest.mark.parametrize("size", [0, 1, 4, 5, 1000])
def test_a_file_of_zeros_as_a_crash_may_leave_it_is_not_read(size, cache):
    make_file(cache / "kernels" / NAME).write_bytes(bytes(size))
    assert store.read(NAME) is None


def test_a_damaged_file_is_replaced(cache):
    make_file(cache / "kernels" / NAME)
    store.write(NAME, "whole")
    assert store.read(NAME) == "whole"


def test_readers_never_see_a_part_of_a_file():
    values = [str(k) * 200_000 for k in range(10)]
    store.write(NAME, values[0])
    with ThreadPoolExecutor(1) as pool:
        written = pool.map(functools.partial(store.write, NAME), 5 * values)
        seen = [store.read(NAME) for _ in range(50)]
        list(written)
    assert set(seen) <= set(values)


# ---- where nothing can be written ----------------------------------------------------------------


def test_a_folder_that_cannot_be_made_is_replaced_and_the_user_told(cache, tmp_path):
    cache.write_text("a file")
    for name in (NAME, "other.nbc"):
        store.write(name, f"value of {name}")
        assert store.read(name) == f"value of {name}"
        assert store.contains(name)
    assert files_of(tmp_path / "substitute") == sorted([NAME, "other.nbc"])
    assert len(store.troubles) == 1
    assert f"'{cache / 'kernels'}' (Not a directory)" in store.troubles[0]
    assert "SPL_CACHE" in store.troubles[0]


def test_where_no_folder_can_be_written_to_nothing_is_kept(cache, tmp_path):
    for path in (cache, tmp_path / "substitute"):
        path.write_text("a file")
    store.write(NAME, "value")
    assert store.read(NAME) is None
    assert not store.contains(NAME)


def test_a_write_that_fails_half_way_leaves_nothing_behind(cache, monkeypatch, tmp_path):
    def fail(path, target):
        assert path.read_bytes()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", fail)
    store.write(NAME, "value")
    assert files_of(tmp_path) == []
    assert "(No space left on device)" in store.troubles[0]


def test_a_new_substitute_is_open_to_nobody_else(monkeypatch, tmp_path):
    monkeypatch.undo()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    folders = [store._substitute_folder.__wrapped__() for _ in range(2)]
    assert folders[0] != folders[1]
    assert [folder.stat().st_mode & 0o077 for folder in folders] == [0, 0]


# ---- who compiles what ---------------------------------------------------------------------------


def test_only_one_of_many_gets_a_claim():
    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(store.claim, 50 * [NAME])) == 1


def test_a_claim_that_was_given_back_can_be_made_again(cache):
    assert store.claim(NAME)
    assert not store.claim(NAME)
    store.release(NAME)
    assert files_of(cache) == []
    assert store.claim(NAME)


def test_claims_of_different_kernels_do_not_exclude_each_other():
    assert store.claim(NAME)
    assert store.claim("other.nbc")


def test_a_claim_is_no_file_of_its_kernel():
    store.claim(NAME)
    assert not store.contains(NAME)


@pytest.mark.parametrize(("age", "is_taken_over"), [(0.5, False), (1.5, True), (-1.5, True), (DAY, True), (-DAY, True)])
def test_a_claim_of_the_dead_is_taken_over_even_if_the_clock_was_set_back(age, is_taken_over, cache):
    store.claim(NAME)
    set_age(cache / "kernels" / CLAIM, age * store.MAX_CLAIM_SECONDS)
    assert store.claim(NAME) == is_taken_over


@pytest.mark.parametrize("place", [".", "kernels"])
def test_where_no_claim_can_be_made_everybody_compiles(place, cache):
    make_file(cache / place)
    assert [store.claim(NAME) for _ in range(2)] == [True, True]


def test_giving_back_what_was_not_claimed_does_nothing(cache):
    store.release(NAME)
    assert not cache.exists()


# ---- the bound -----------------------------------------------------------------------------------


def test_the_newest_files_that_fit_are_kept(cache):
    for k in range(5):
        make_file(cache / "kernels" / f"{k}.nbc", age=100.0 * k, size=10)
    store.prune(max_bytes=35)
    assert files_of(cache / "kernels") == ["0.nbc", "1.nbc", "2.nbc"]


def test_nothing_is_deleted_while_everything_fits(cache):
    for k in range(3):
        make_file(cache / "kernels" / f"{k}.nbc", age=k * DAY, size=10)
    store.prune(max_bytes=30)
    assert len(files_of(cache)) == 3


def test_folders_of_older_versions_count_and_go_when_they_are_empty(cache):
    make_file(cache / "kernels-old" / "a.nbc", age=3 * DAY, size=10)
    make_file(cache / "kernels-used" / "a.nbc", age=DAY, size=10)
    make_file(cache / "kernels" / "a.nbc", size=10)
    store.prune(max_bytes=20)
    assert files_of(cache) == ["kernels-used/a.nbc", "kernels/a.nbc"]
    assert not (cache / "kernels-old").exists()


def test_what_interrupted_processes_left_is_deleted_once_it_is_old(cache):
    for name in ("a.tmp", "b.nbc.claim"):
        make_file(cache / "kernels" / f"old-{name}", age=2.0 * store.MAX_CLAIM_SECONDS)
        make_file(cache / "kernels" / f"new-{name}")
    make_file(cache / "kernels" / NAME, age=DAY)
    store.prune()
    assert files_of(cache / "kernels") == sorted([NAME, "new-a.tmp", "new-b.nbc.claim"])


def test_other_files_of_the_cache_are_left_alone(cache):
    make_file(cache / "data" / "table.csv", age=DAY, size=100)
    make_file(cache / "kernels" / NAME, age=DAY, size=100)
    store.prune(max_bytes=0)
    assert files_of(cache) == ["data/table.csv"]


def test_a_cache_that_does_not_exist_is_within_its_bound(cache):
    store.prune()
    assert not cache.exists()


@pytest.mark.parametrize(("age", "is_marked"), [(2 * store.TOUCH_SECONDS, True), (0.5 * store.TOUCH_SECONDS, False)])
def test_reading_a_file_marks_it_as_used_now_and_then(age, is_marked, cache):
    store.write(NAME, "value")
    set_age(cache / "kernels" / NAME, age)
    store.read(NAME)
    is_new = time.time() - (cache / "kernels" / NAME).stat().st_mtime < 0.1 * store.TOUCH_SECONDS
    assert is_new == is_marked


def test_the_kernels_that_were_used_last_survive(cache):
    for name in ("used.nbc", "forgotten.nbc"):
        store.write(name, "value")
        set_age(cache / "kernels" / name, 9 * DAY)
    store.read("used.nbc")
    store.prune(max_bytes=(cache / "kernels" / "used.nbc").stat().st_size)
    assert files_of(cache / "kernels") == ["used.nbc"]
