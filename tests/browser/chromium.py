"""Which Chromium the browser tests use, and how one is installed where there is none: `make browser`."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
VARIABLE = "SPL_CHROMIUM"  # names the program, where it is somewhere else
SECONDS_TO_INSTALL = 900
# A browser that keeps to itself: nothing is fetched, nothing is remembered. The profile is a new, empty folder.
OPTIONS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
MISSING = f"There is no Chromium here: {', '.join(NAMES)}. `make browser` installs one, or {VARIABLE} names it."


def find_chromium() -> str | None:
    """Return the program, or None: the one that is named, one of the system, or the one that playwright downloads."""
    named = os.environ.get(VARIABLE)
    if named:
        return shutil.which(named)
    installed = next((path for path in map(shutil.which, NAMES) if path), None)
    return installed or _find_own()


def _find_own() -> str | None:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    with sync_playwright() as driver:
        path = driver.chromium.executable_path
    return path if Path(path).exists() else None


def install_chromium() -> str | None:
    """Install one with the system's packages, else with playwright. Return the program, or None if nothing helped."""
    for command in _ways_to_install():
        print("Installing a browser for the tests:", " ".join(command), flush=True)
        try:
            subprocess.run(command, check=False, timeout=SECONDS_TO_INSTALL, stdout=subprocess.DEVNULL)
        except (OSError, subprocess.TimeoutExpired) as error:
            print(error)
        found = find_chromium()
        if found:
            return found
    return None


def _ways_to_install() -> list[list[str]]:
    ways = []
    rights = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if shutil.which("apt-get") and (not rights or shutil.which("sudo")):
        quiet = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
        ways.append([*rights, *quiet, "install", "-y", "--no-install-recommends", "chromium"])
        ways.append([*rights, *quiet, "update"])  # only where the lists of packages are too old
        ways.append(ways[0])
    ways.append([sys.executable, "-m", "playwright", "install", "chromium"])
    return ways


if __name__ == "__main__":
    program = find_chromium() or install_chromium()
    print(f"Browser tests use {program}." if program else f"Browser tests will be skipped. {MISSING}")
