"""Run other tools and ours on the same problems, and print one table: python -m benchmarks.against --help"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.against.experiment import against_trials, check_tools, make_experiment
from benchmarks.against.tools import TOOLS, name_modules
from rich.console import Console

from spl.bench.progress import TrialLines
from spl.bench.report import against_sections
from spl.bench.runner import run_trials
from spl.bench.section import print_section
from spl.bench.selection import parse_problems, parse_seeds
from spl.datasets import nguyen_problems
from spl.errors import SplError


def main(arguments: Sequence[str] | None = None) -> None:
    options = _make_parser().parse_args(arguments)
    console = Console()
    try:
        modules = name_modules(options.module)
        tools = [name for name in options.tools.split(",") if name] + list(modules)
        check_tools(tools, modules)
        problems = parse_problems(options.problems, nguyen_problems())
        trials = against_trials(tools, problems, parse_seeds(options.seeds), options.setting, options.timeout)
        finished = run_trials(
            make_experiment(modules), trials, options.results, n_jobs=options.jobs, watch=TrialLines(console)
        )
    except SplError as error:
        sys.exit(f"Error: {error}")
    if finished.is_interrupted:
        sys.exit(f"Interrupted; what is done is kept in {options.results}. The same command continues.")
    for section in against_sections(finished.records):
        print_section(console, section)
    print(f"Results: {options.results}")


def _make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.against", description=__doc__)
    parser.add_argument("--tools", default="spl,gplearn", help=f"of {', '.join(TOOLS)} (default: %(default)s)")
    parser.add_argument(
        "--module", action="append", type=Path, default=[], metavar="PATH", help="a module as for SRBench; repeatable"
    )
    parser.add_argument("--problems", default="1-12", metavar="LIST", help="such as 1-12,5c (default: %(default)s)")
    parser.add_argument("--setting", choices=("points20", "paper"), default="points20", help="default: %(default)s")
    parser.add_argument("--seeds", default="0-1", metavar="LIST", help="such as 0-9 (default: %(default)s)")
    parser.add_argument(
        "--timeout", type=float, default=20.0, metavar="SECONDS", help="of each trial (default: %(default)s)"
    )
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="trials at a time (default: %(default)s)")
    parser.add_argument(
        "--results", type=Path, default=Path("bench-results/against.jsonl"), metavar="FILE", help="default: %(default)s"
    )
    return parser


if __name__ == "__main__":
    main()
