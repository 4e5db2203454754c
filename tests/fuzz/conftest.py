"""Says at the end how many hostile cases were run."""

from tests.fuzz.guard import N_CASES


def pytest_terminal_summary(terminalreporter):
    if N_CASES:
        listed = ", ".join(f"{subject} {number:,}" for subject, number in sorted(N_CASES.items()))
        terminalreporter.write_line(f"{sum(N_CASES.values()):,} hostile cases: {listed}")
