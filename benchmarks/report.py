"""Size and first paint of the report of a run with 50 equations and 10,000 rows: below 2 MB, below 1 s.

python -m benchmarks.report [report.html]
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright
from tests.browser.chromium import MISSING, OPTIONS, find_chromium

from spl.data.dataset import Dataset
from spl.formulas.grammar import Grammar
from spl.formulas.grammar_rules import DEFAULT_OPERATORS
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.regression.candidate import Candidate
from spl.regression.discover import Discovery
from spl.regression.fit import fit
from spl.regression.front import Front
from spl.report.from_run import report_of_run
from spl.report.page import write_page
from spl.runs.reader import Moment, StoredRun, StoredSearch

N_ROWS, N_EQUATIONS, N_PAINTS = 10_000, 50, 5
NAMES = ("mass", "speed", "height", "temperature [K]")
TERMS = (
    "C*mass*speed**2",
    "C*mass*height",
    "sin(C*'temperature [K]')",
    "exp(-height/C)",
    "C*sqrt(speed)",
    "C/mass",
    "C*cos(speed)",
)


def make_run() -> StoredRun:
    """Return a run whose front has formulas of one term, then of more and more."""
    random = np.random.default_rng(0)
    columns = random.uniform(1.0, 5.0, (len(NAMES), N_ROWS))
    target = 0.5 * columns[0] * columns[1] ** 2 + 9.81 * columns[0] * columns[2] + random.normal(0.0, 1.0, N_ROWS)
    data = Dataset.from_arrays(columns.T, target, names=NAMES)
    words = Vocabulary(NAMES)
    texts = [" + ".join(TERMS[: n + 1]) + " + C*speed" * extra for n in range(len(TERMS)) for extra in range(12)]
    by_cost = {program.cost: program for program in (parse_expression(text, words) for text in texts)}
    found = [fit(by_cost[cost], data) for cost in sorted(by_cost)[:N_EQUATIONS]]
    front = Front(tuple(Candidate(one.program, 10.0 * 0.9**place) for place, one in enumerate(found)))
    grammar = Grammar.from_operators(DEFAULT_OPERATORS, NAMES)
    history = tuple(Moment(k / 10, k, 1000 * k, 0, 10.0 * 0.98**k) for k in range(1, 600))
    discovery = Discovery(front, N_ROWS, 1e-12, 60.0, 10_000, 600_000, "timeout")
    search = StoredSearch("energy", grammar, front, (), history, discovery)
    settings = {"config": {}, "seed": 0, "limits": {"timeout": 60.0}, "jobs": 2}
    return StoredRun(
        Path("energy.spl"),
        "regression",
        "finished",
        "timeout",
        settings,
        {"numpy": np.__version__},
        {},
        data,
        (search,),
        None,
    )


def measure_paints(page_file: Path) -> list[float]:
    """Return the seconds to the first contentful paint of some visits, each in a new window."""
    program = find_chromium()
    if program is None:
        sys.exit(MISSING)
    seconds = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, headless=True, args=list(OPTIONS))
        for _ in range(N_PAINTS):
            page = browser.new_context().new_page()
            page.goto(page_file.as_uri())
            while not page.evaluate("performance.getEntriesByName('first-contentful-paint').length"):
                page.wait_for_timeout(20)  # the page forbids functions made of text, and so wait_for_function
            paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
            seconds.append(paint / 1000)
            page.context.close()
        browser.close()
    return seconds


def main() -> None:
    run = make_run()
    began = time.perf_counter()
    text = write_page(report_of_run(run))
    took = time.perf_counter() - began
    file = Path(sys.argv[1] if len(sys.argv) > 1 else f"{tempfile.mkdtemp()}/report.html").absolute()
    file.write_text(text, encoding="utf-8")
    paints = measure_paints(file)
    print(f"{N_EQUATIONS} equations, {N_ROWS:,} rows: {len(text.encode()) / 1e6:.2f} MB, written in {took:.2f} s")
    print(f"first paint: median {statistics.median(paints):.2f} s, slowest {max(paints):.2f} s of {N_PAINTS} visits")


if __name__ == "__main__":
    main()
