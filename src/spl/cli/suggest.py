"""The command `spl suggest`: which points to measure next, from a run file.

Slow imports are inside the functions, so that `spl --help` answers at once.
"""

import warnings

import click

from spl.cli.options import print_notes, split_list
from spl.errors import SettingError

DIGITS = 6  # of the points


def split_bounds(ctx: click.Context, param: click.Parameter, value: str | None) -> dict[str, tuple[float, float]]:
    """Return bounds by column from `A=LOW:HIGH,...`; an entry that contains a comma must be quoted."""
    bounds: dict[str, tuple[float, float]] = {}
    for entry in split_list(ctx, param, value):
        name, equals, ends = (part.strip() for part in entry.rpartition("="))
        try:
            low, high = (float(end) for end in ends.split(":"))
        except ValueError:
            equals = ""
        if not (name and equals):
            raise click.BadParameter(f"{entry!r} is not COLUMN=LOW:HIGH. Write for example: mass=0.5:3", ctx, param)
        if name in bounds:
            raise click.BadParameter(f"{value!r} names the column '{name}' twice. Name each column once.", ctx, param)
        bounds[name] = low, high
    return bounds


@click.command()
@click.argument("file")
@click.option("-n", "n_points", default=5, show_default=True, metavar="N", help="Number of points.")
@click.option(
    "--bounds",
    callback=split_bounds,
    metavar="A=LOW:HIGH,...",
    help="Where columns can be measured. [default: the range of the data]",
)
@click.option("-o", "--output", metavar="FILE", help="Write the points to this CSV file. [default: print them]")
def suggest(file: str, n_points: int, bounds: dict[str, tuple[float, float]], output: str | None) -> None:
    """Say which points to measure next, given the run in FILE.

    They separate the formula and its rivals, which `spl show` lists, from each other as well as N measurements can. The most
    useful point comes first. Add the measured rows to the table and fit it again.

    \b
    Examples:
      spl suggest period.spl
      spl suggest period.spl -n 3 --bounds mass=0.5:3,distance=1:40 -o next.csv
    """
    from spl.errors import DoubtfulResult
    from spl.estimators.regressor import SPLRegressor

    model = SPLRegressor.from_run(file)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DoubtfulResult)
        points = model.suggest(n_points, bounds)
    print_notes([str(warning.message) for warning in caught if warning.category is DoubtfulResult])
    text = points.to_csv(index=False, float_format=f"%.{DIGITS}g", lineterminator="\n")
    if output is None:
        click.echo(text, nl=False)
        return
    try:
        with open(output, "w", encoding="utf-8") as written:
            written.write(text)
    except OSError as error:
        raise SettingError(f"The points cannot be written to '{output}': {error.strerror}.") from None
    click.echo(f"Wrote {len(points)} points to {output}")
