"""The report on `spl bench sampling`: recovered systems at each number of samples per turn, and which were missed."""

from collections.abc import Sequence

from spl.bench.records import Record
from spl.bench.sampling import SAMPLING_TOOLS, SamplingCondition, true_system
from spl.bench.section import Section
from spl.bench.sindy import SindyConfig
from spl.bench.summaries import group, origin_lines, spell_seconds, summarise
from spl.bench.systems import SINDY, STRUCTURE_RULE, TERMS_RULE
from spl.bench.systems_report import NOISE_NOTE, wrong_equations
from spl.bench.text_table import TextTable
from spl.bench.trials import OURS
from spl.datasets.sampled_systems import N_TURNS, SAMPLED_SYSTEMS

_SINDY_CONFIG = SindyConfig()
SAMPLING_NOTE = (
    f"Each trajectory has {N_TURNS} turns, so 5 samples per turn are {5 * N_TURNS} samples. A turn is the mean time between maxima of "
    "the state that oscillates; for periodic orbits it is 1 to 3 % longer, so that the turns are not all sampled at the same points."
)
TOOLS_NOTE = (
    f"{OURS}: the defaults of SPLDynamics with all its operators. {SINDY}: STLSQ with threshold {_SINDY_CONFIG.threshold:g}, "
    f"monomials up to degree {_SINDY_CONFIG.degree}, smoothed finite differences. All systems use the same settings."
)
SAMPLING_RULE = f"A system is recovered if all of its equations are right. {TERMS_RULE} One that is not a polynomial {STRUCTURE_RULE}"


def sampling_sections(records: Sequence[Record]) -> list[Section]:
    """Return two sections per time limit: all systems together, and each system searched by us."""
    return [
        section
        for members in group(records, lambda record: record.trial.timeout).values()
        for section in _sections(members)
    ]


def _sections(records: Sequence[Record]) -> list[Section]:
    ours = [record for record in records if record.trial.tool == OURS]
    together = Section(
        title="Coarse samples: recovered systems",
        notes=(*origin_lines(records), SAMPLING_NOTE, NOISE_NOTE, TOOLS_NOTE, SAMPLING_RULE),
        table=sampling_table(records),
        failures=(*_missed_systems(ours), *(line for record in ours for line in _wrong_equations(record))),
    )
    if not ours:
        return [together]
    each = Section(
        title="Coarse samples: each system, searched by spl",
        notes=("Recovered trials. Columns: samples per turn at a level of noise. Seconds: the median of all trials.",),
        table=each_system_table(ours),
    )
    return [together, each]


def sampling_table(records: Sequence[Record]) -> TextTable:
    """Return one row per number of samples per turn: for each tool and level of noise, the recovered systems."""
    tools = [tool for tool in SAMPLING_TOOLS if any(record.trial.tool == tool for record in records)]
    columns = [(tool, noise) for tool in tools for noise in _levels(records)]
    return TextTable(
        headings=("samples per turn", *(f"{tool} {noise:.3g}" for tool, noise in columns)),
        rows=tuple(
            (str(n_samples), *(_count(_select(records, n_samples, noise, tool)) for tool, noise in columns))
            for n_samples in _rates(records)
        ),
    )


def each_system_table(records: Sequence[Record]) -> TextTable:
    """Return one row per system: for each number of samples per turn and level of noise, the recovered trials."""
    columns = [(n_samples, noise) for noise in _levels(records) for n_samples in _rates(records)]
    by_system = group(records, lambda record: record.trial.problem)
    return TextTable(
        headings=("system", *(f"{n_samples} at {noise:.3g}" for n_samples, noise in columns), "median s"),
        rows=tuple(
            (
                name,
                *(_count(_select(by_system[name], n_samples, noise, OURS)) for n_samples, noise in columns),
                spell_seconds(summarise(by_system[name]).median_seconds),
            )
            for name in SAMPLED_SYSTEMS
            if name in by_system
        ),
    )


def _rates(records: Sequence[Record]) -> list[int]:
    """Return the numbers of samples per turn that there are, from fine to coarse."""
    return sorted({SamplingCondition.of(record.trial.setting).samples_per_turn for record in records}, reverse=True)


def _levels(records: Sequence[Record]) -> list[float]:
    return sorted({SamplingCondition.of(record.trial.setting).noise for record in records})


def _select(records: Sequence[Record], n_samples: int, noise: float, tool: str) -> list[Record]:
    setting = SamplingCondition(n_samples, noise).setting
    return [record for record in records if record.trial.setting == setting and record.trial.tool == tool]


def _count(records: Sequence[Record]) -> str:
    return f"{sum(record.outcome.recovered for record in records)}/{len(records)}" if records else ""


def _missed_systems(records: Sequence[Record]) -> list[str]:
    """Return a line for each condition with the systems that were missed; with several seeds, how often."""
    lines = []
    for noise in _levels(records):
        for n_samples in _rates(records):
            trials = _select(records, n_samples, noise, OURS)
            n_seeds = len({record.trial.seed for record in trials})
            missed = group(
                (record for record in trials if not record.outcome.recovered), lambda record: record.trial.problem
            )
            names = [
                f"{name} ({len(missed[name])} of {n_seeds})" if n_seeds > 1 else name
                for name in SAMPLED_SYSTEMS
                if name in missed
            ]
            if names:
                lines.append(f"{n_samples} samples per turn, noise {noise:.3g}: {', '.join(names)}")
    return lines


def _wrong_equations(record: Record) -> list[str]:
    trial, condition = record.trial, SamplingCondition.of(record.trial.setting)
    place = f"{trial.problem}, {condition.samples_per_turn} samples per turn, noise {condition.noise:.3g}, seed {trial.seed}"
    return wrong_equations(record, place, true_system(trial.problem).are_right)
