"""The origin of a result: the commit of the program, the versions of its packages, and the machine."""

import functools
import importlib.metadata
import os
import platform
import subprocess
from pathlib import Path

RECORDED_PACKAGES = ("numpy", "scipy", "numba", "scikit-learn")
_SOURCE = Path(__file__).parents[1]


@functools.cache
def describe_origin() -> dict[str, object]:
    """Return commit, versions and machine, as recorded in every result.

    Examples:
        >>> list(describe_origin())
        ['commit', 'versions', 'machine']
    """
    return {"commit": find_commit(_SOURCE), "versions": _versions(), "machine": _machine()}


def find_commit(source: Path) -> str:
    """Return the commit of a source folder, with `+dirty` if it has changes; the version of the package if it is not a checkout."""
    if _git(source, "ls-files", "--error-unmatch", "__init__.py") is None:
        return f"version {own_version()}"  # not a checkout, or installed inside another one
    commit = _git(source, "rev-parse", "--short=12", "HEAD")
    changes = _git(source, "status", "--porcelain", "--", ".")
    return f"{commit}+dirty" if changes else f"{commit}"


def own_version() -> str:
    """Return the version of the installed package; a checkout may not be installed."""
    try:
        return importlib.metadata.version("symbolic-physics-learner")
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _git(folder: Path, *arguments: str) -> str | None:
    """Return the output of git; None if git is missing or fails."""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | {"GIT_OPTIONAL_LOCKS": "0"},  # reading must not lock the repository
        )
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _versions() -> dict[str, str]:
    packages = {name: importlib.metadata.version(name) for name in RECORDED_PACKAGES}
    return {"python": platform.python_version(), **packages, "spl": own_version()}


def _machine() -> dict[str, object]:
    return {"cpu": _cpu_model(), "cores": os.cpu_count(), "system": f"{platform.system()} {platform.release()}"}


def _cpu_model() -> str:
    """Return the name of the processor: on Linux from a file, elsewhere from Python."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()
