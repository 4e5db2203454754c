"""Run tests with every supported Python, and with the lowest supported version of each dependency: `make check-versions`.

Each run has an environment below build/versions. A Python that is not installed is left out, and the summary says so.
Everything after the name of this module goes to pytest.
"""

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
ENVIRONMENTS = ROOT / "build" / "versions"
SHOWN_PACKAGES = ("numba", "numpy", "pandas", "scikit-learn", "scipy", "sympy")


@dataclass(frozen=True)
class Run:
    """One combination of versions: a Python, and how uv chooses the versions of the dependencies."""

    python: str
    resolution: str  # "highest", or "lowest-direct": the lowest versions that pyproject.toml allows

    @property
    def name(self) -> str:
        return f"{self.python}-{self.resolution}"

    @property
    def warning_options(self) -> list[str]:
        """The options of pytest about warnings: old packages use what newer ones call deprecated, which is not our mistake."""
        return ["-W", "ignore::DeprecationWarning"] if self.resolution == "lowest-direct" else []


def supported_pythons() -> list[str]:
    """Return the Python versions that pyproject.toml names, oldest first."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    versions = (classifier.rpartition(" :: ")[2] for classifier in project["classifiers"])
    return [version for version in versions if version.startswith("3.")]


def plan_runs(pythons: list[str]) -> list[Run]:
    """Return the runs: the lowest versions with the oldest Python, then the highest versions with each Python."""
    return [Run(pythons[0], "lowest-direct"), *(Run(python, "highest") for python in pythons)]


def find_python(version: str) -> str | None:
    """Return an interpreter of this version from PATH or pyenv, or None if there is none."""
    return next((path for path in candidate_pythons(version) if has_version(path, version)), None)


def candidate_pythons(version: str) -> Iterator[str]:
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        if found := shutil.which(f"python{version}", path=folder):
            yield found
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from map(str, sorted(pyenv.glob(f"versions/{version}.*/bin/python")))


def has_version(path: str, version: str) -> bool:
    """Return whether an interpreter runs and has this version; a shim of pyenv may do neither."""
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([path, "-c", code], capture_output=True, text=True, check=False)
    return done.returncode == 0 and done.stdout.strip() == version


def install(run: Run, interpreter: str) -> Path:
    """Make the environment of a run and return its interpreter."""
    folder = ENVIRONMENTS / run.name
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    if uv is None:
        raise SystemExit("uv is needed to install the lowest versions: pip install uv")
    subprocess.run([uv, "venv", "--quiet", "--clear", "--python", interpreter, folder], check=True)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    options = ["--quiet", "--python", python, "--resolution", run.resolution]
    subprocess.run([uv, "pip", "install", *options, "--editable", f"{ROOT}[test]"], check=True)
    return python


def installed_versions(python: Path) -> str:
    code = f"import importlib.metadata as m; print(*(f'{{p}} {{m.version(p)}}' for p in {SHOWN_PACKAGES}), sep=', ')"
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def check(run: Run, pytest_options: list[str]) -> str:
    """Run the tests with one combination of versions and return its line of the summary."""
    interpreter = find_python(run.python)
    if interpreter is None:
        return f"{run.name}: skipped, because Python {run.python} is not installed"
    python = install(run, interpreter)
    versions = installed_versions(python)
    print(f"\n{run.name}: {versions}", flush=True)
    options = [*run.warning_options, *pytest_options]
    status = subprocess.run([python, "-m", "pytest", *options], cwd=ROOT, check=False).returncode
    return f"{run.name}: {'FAILED' if status else 'passed'} ({versions})"


def main() -> None:
    lines = [check(run, sys.argv[1:]) for run in plan_runs(supported_pythons())]
    print("", *lines, sep="\n")
    sys.exit(any("FAILED" in line for line in lines))


if __name__ == "__main__":
    main()
