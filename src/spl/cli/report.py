"""The command `spl report`: a run file in, one HTML file out. It holds no method."""

from pathlib import Path

import click


@click.command()
@click.argument("run")
@click.option("-o", "--output", metavar="FILE", help="Where the report goes. [default: RUN with the ending .html]")
def report(run: str, output: str | None) -> None:
    """Write a report about a run: one HTML file that needs no network, for a browser or a printer.

    RUN is the file of a run, as `--run` makes it; it may still be going on. The report shows the data, the rules, the front
    as a chart in which each formula can be chosen, its fit, residuals and code to copy; for systems also trajectories and
    phase portraits; and what it takes to run it again.

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
        raise SettingError(f"The report must end in .html; it is '{file}'.")
    if not file.parent.is_dir():
        raise SettingError(f"The folder of the report '{file}' does not exist. Make it first, or name another.")
    page = write_page(report_of_run(read_run(run)))
    try:
        file.write_text(page, encoding="utf-8")
    except OSError as error:
        raise SettingError(f"The report '{file}' cannot be written: {error.strerror or error}.") from None
    click.echo(f"The report is in {file}.")
