"""The part `depth` of `spl bench knowledge`: what the bank holds for each law, with and without units. Nothing is searched."""

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spl.bench.knowledge_units import UNITS_VARIANTS, WITH
from spl.bench.trials import OURS, Outcome, Trial
from spl.data.dataset import Dataset
from spl.datasets.handbook_laws import HANDBOOK_LAWS, HandbookLaw, load_handbook_law
from spl.datasets.handbook_tables import make_handbook_table
from spl.formulas.grammar import Grammar
from spl.formulas.grammar_rules import DEFAULT_OPERATORS
from spl.formulas.program import Program, Vocabulary
from spl.kernels.bank.bank import Bank, BankRules, look_up_entry
from spl.kernels.bank.value_index import CONSTANT_SPREAD, UP_TO_SCALE_AND_OFFSET
from spl.kernels.programs import tokens as tk
from spl.regression.bank_build import BANK_ROWS, make_completion, spell_entry
from spl.regression.scales import choose_scales
from spl.settings import SearchConfig
from spl.units.group_grammar import make_group_grammar
from spl.units.groups import Groups, choose_groups
from spl.units.inference import infer_dimension
from spl.units.rewriting import to_columns
from spl.units.table_units import TableUnits, read_table_units

N_CHECKED = 1_000  # entries whose units are checked, spread over the bank


def depth_trials(seed: int) -> list[Trial]:
    """Return the trials: each law with and without units, without noise."""
    return [
        Trial(
            experiment="knowledge",
            setting=f"part=depth units={variant}",
            tool=OURS,
            problem=law.name,
            seed=seed,
            timeout=None,
        )
        for law in HANDBOOK_LAWS
        for variant in UNITS_VARIANTS
    ]


def run_depth(trial: Trial, values: dict[str, str]) -> Outcome:
    """Grow the bank of a law; recovered, if it holds the law up to a factor and an offset."""
    law = load_handbook_law(trial.problem)
    table, target = make_handbook_table(law, trial.seed, n_rows=SearchConfig().max_rows)
    began = time.perf_counter()
    ground = _ground_of(law, table, target, has_units=values["units"] == WITH)
    completion = make_completion(ground.grammar, ground.data)
    bank = completion.bank
    entries = [int(entry) for entry in bank.member[0, : int(bank.n_of[0])]]
    rows = np.ascontiguousarray(ground.data.target[:BANK_ROWS])
    checked = entries[:: max(len(entries) // N_CHECKED, 1)]
    programs = [ground.program_of(bank, completion.rules, entry) for entry in checked]
    return Outcome(
        formula="",
        recovered=bool(ground.is_law_constant or look_up_entry(bank, 0, UP_TO_SCALE_AND_OFFSET, rows) >= 0),
        error=None,
        seconds=time.perf_counter() - began,
        evaluations=None,
        stopped="built",
        details={
            "entries": len(entries),
            "largest_cost": max(int(bank.cost[entry]) for entry in entries),
            "possible_share": sum(ground.is_possible(program) for program in programs) / len(programs),
        },
    )


@dataclass(frozen=True, slots=True)
class _Ground:
    """What a bank grows on."""

    data: Dataset
    grammar: Grammar
    units: TableUnits
    groups: Groups | None
    is_law_constant: bool  # as a law of these groups

    def program_of(self, bank: Bank, rules: BankRules, entry: int) -> Program | None:
        """Return an entry as a formula of the columns."""
        tokens = spell_entry(bank, rules, entry)
        n_constants = sum(token >> tk.KIND_SHIFT == tk.CONSTANT for token in tokens)
        program = Program(tokens, self.grammar.vocabulary, (1.0,) * n_constants)
        return program if self.groups is None else to_columns(program, self.groups, Vocabulary(self.groups.units.names))

    def is_possible(self, program: Program | None) -> bool:
        """Return whether a formula of the columns does not contradict their units, whatever unit it has itself."""
        return program is not None and infer_dimension(program, self.units.dimensions).dimension is not None


def _ground_of(
    law: HandbookLaw, table: NDArray[np.float64], target: NDArray[np.float64], *, has_units: bool
) -> _Ground:
    """Return what the bank of a search grows on, in ordinary sizes: columns, or groups of columns and named constants."""
    units = read_table_units(law.units, law.target_unit, law.known, names=law.variables, target_name=law.target)
    if not has_units:
        data = Dataset.from_arrays(table, target, names=law.variables)
        grammar = Grammar.from_operators(DEFAULT_OPERATORS, law.variables)
        return _Ground(choose_scales(data, grammar).measure(data), grammar, units, None, _is_constant(data))
    known = np.tile([constant.value for constant in units.known], (len(table), 1))
    data = Dataset.from_arrays(np.hstack([table, known]), target, names=units.names)
    groups = choose_groups(units, data.columns)
    grammar = make_group_grammar(Grammar.from_operators(DEFAULT_OPERATORS, units.names), groups)
    data = groups.measure(data)
    scales = choose_scales(data, grammar, are_pure=True)
    return _Ground(scales.measure(data), grammar, units, groups, _is_constant(data))


def _is_constant(data: Dataset) -> bool:
    return bool(np.ptp(data.target) <= CONSTANT_SPREAD * np.max(np.abs(data.target)))
