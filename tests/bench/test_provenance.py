import shutil
import subprocess

import pytest

from spl.bench.provenance import describe_origin, find_commit, own_version

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def git(folder, *arguments):
    identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", folder, *identity, *arguments], check=True, capture_output=True)


@pytest.fixture
def checkout(tmp_path):
    (tmp_path / "__init__.py").write_text("")
    git(tmp_path, "init")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "first")
    return tmp_path


@needs_git
def test_a_clean_checkout_is_named_by_its_commit(checkout):
    commit = find_commit(checkout)
    assert len(commit) == 12
    assert int(commit, 16) >= 0


@needs_git
@pytest.mark.parametrize("name", ["__init__.py", "new.py"])
def test_a_changed_checkout_is_marked(checkout, name):
    (checkout / name).write_text("x = 1\n")
    assert find_commit(checkout).endswith("+dirty")


def test_an_installed_package_is_named_by_its_version(tmp_path):
    (tmp_path / "__init__.py").write_text("")
    assert find_commit(tmp_path) == f"version {own_version()}"


@needs_git
def test_a_package_installed_inside_another_checkout_is_not_taken_for_it(checkout):
    inside = checkout / "site-packages"
    inside.mkdir()
    (inside / "__init__.py").write_text("")
    assert find_commit(inside) == f"version {own_version()}"


def test_the_versions_and_the_machine_are_named():
    origin = describe_origin()
    assert set(origin["versions"]) == {"python", "numpy", "scipy", "numba", "scikit-learn", "spl"}
    assert set(origin["machine"]) == {"cpu", "cores", "system"}
