"""The command `spl`, run here or as a process of its own."""

import subprocess
import sys

from click.testing import CliRunner

from spl.cli.main import main

PROCESS = [sys.executable, "-c", "from spl.cli.main import main; main()"]
SMALL = ["--operators", "+,*", "--max-evaluations", "300"]


def run(*arguments, **options):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments], **options)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def run_process(*arguments, **options):
    return subprocess.run([*PROCESS, *arguments], capture_output=True, text=True, timeout=120, check=False, **options)
