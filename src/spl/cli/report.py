"""The command `spl report`: the report of a run as one HTML file."""

from pathlib import Path

import click


@click.command()
@click.argument("run")
@click.option("-o", "--output", metavar="FILE", help="Output file. [default: RUN with the extension .html]")
def report(run: str, output: str | None) -> None:
    """Write a report about a run: one HTML file that needs no network, for a browser or a printer.

    RUN is a run file, as written by `--run`; the run may still be going on. The report shows the data, the rules, and the
    front as a chart to choose formulas from, each with its fit, residuals and code to copy; for systems also trajectories
    and phase portraits; and what is needed to reproduce the run.

    \b
    Examples:
      spl report planets.spl
      spl report planets.spl -o planets-report.html
    """
    from spl.errors import SettingError
    from spl.report.from_run import report_of_run
    from spl.report.page import write_page
    from spl.runs.reader import read_run

    file = Path(output) if output is not None else Path(run).with_suffix(".html")
    if file.suffix.lower() not in (".html", ".htm"):
        raise SettingError(f"The report must end in .html; got '{file}'.")
    if not file.parent.is_dir():
        raise SettingError(f"The folder of the report '{file}' does not exist. Create it first, or choose another.")
    page = write_page(report_of_run(read_run(run)))
    try:
        file.write_text(page, encoding="utf-8")
    except OSError as error:
        raise SettingError(f"The report '{file}' cannot be written: {error.strerror or error}.") from None
    click.echo(f"The report is in {file}.")
