import sys

import numpy as np
import pytest

from spl.bench.gplearn import NO_GPLEARN, GplearnConfig, fit_gplearn, require_gplearn, to_program
from spl.errors import SettingError, SplError
from spl.formulas.text import to_text
from spl.regression.fit import evaluate

genetic = pytest.importorskip("gplearn.genetic", reason="gplearn is not installed")
functions = pytest.importorskip("gplearn.functions", reason="gplearn is not installed")

FUNCTIONS = ("add", "sub", "mul", "div", "sqrt", "log", "abs", "neg", "inv", "max", "min", "sin", "cos", "tan")
GUARDED = {"div": 1, "inv": 0, "log": 0}  # which argument must not be near 0
SMALL = GplearnConfig(population_size=60, max_generations=4)


@pytest.fixture
def rows(rng):
    return rng.uniform(-3, 3, (40, 2))


def make_nodes(rng, depth=4):
    """Return a random program as gplearn keeps it: functions, indices of variables, numbers, in prefix order."""
    if depth == 0 or rng.random() < 0.2:
        return [int(rng.integers(2))] if rng.random() < 0.6 else [float(rng.uniform(-10, 10))]
    function = functions._function_map[FUNCTIONS[rng.integers(len(FUNCTIONS))]]
    return [function, *(node for _ in range(function.arity) for node in make_nodes(rng, depth - 1))]


def values_and_guards(nodes, rows):
    """Return gplearn's values by a simple walk, and the rows where none of its protections applied."""
    stack, is_plain = [], np.ones(len(rows), dtype=bool)
    for node in reversed(nodes):
        if isinstance(node, int):
            stack.append(rows[:, node])
        elif isinstance(node, float):
            stack.append(np.full(len(rows), node))
        else:
            arguments = [stack.pop() for _ in range(node.arity)]
            if node.name in GUARDED:
                is_plain &= np.abs(arguments[GUARDED[node.name]]) > 0.001
            stack.append(node(*arguments))
    return stack.pop(), is_plain


def test_a_translated_program_has_gplearns_values_wherever_nothing_is_protected(rng, rows):
    n_compared = 0
    for _ in range(200):
        nodes = make_nodes(rng)
        with np.errstate(all="ignore"):
            expected, is_plain = values_and_guards(nodes, rows)
        found = evaluate(to_program(nodes, ["x", "y"]), np.ascontiguousarray(rows.T))
        is_compared = is_plain & (np.abs(expected) < 1e6)  # the tangent of a huge number is anybody's guess
        if any(getattr(node, "name", "") in ("sin", "cos", "tan") for node in nodes):
            is_compared &= np.abs(expected) < 1e3
        np.testing.assert_allclose(found[is_compared], expected[is_compared], rtol=1e-6, atol=1e-6)
        n_compared += is_compared.sum()
    assert n_compared > 4000


def test_roots_and_logarithms_print_with_their_absolute_value():
    nodes = [functions.log1, functions.sqrt1, 0]
    assert to_text(to_program(nodes, ["x"])) == "log(abs(sqrt(abs(x))))"


def test_one_generation_after_the_other_gives_what_one_run_gives(rows):
    target = rows[:, 0] ** 2 + rows[:, 1]
    found = fit_gplearn(rows, target, names=["x", "y"], config=SMALL, seed=3)
    whole = genetic.SymbolicRegressor(
        population_size=60, generations=4, const_range=(-10.0, 10.0), function_set=("add", "sub", "mul", "div"),
        random_state=3,
    ).fit(rows, target)  # fmt: skip
    assert found.program == to_program(whole._program.program, ["x", "y"])
    assert np.array_equal(found.predict(rows), whole.predict(rows))
    assert (found.n_evaluations, found.stopped) == (240, "generations")


def test_an_exact_program_ends_the_run(rows):
    config = GplearnConfig(population_size=300, max_generations=20)
    found = fit_gplearn(rows, rows[:, 0] + rows[:, 1], names=["x", "y"], config=config, seed=0)
    assert found.stopped == "exact"


def test_time_ends_the_run_after_its_first_generation(rows):
    config = GplearnConfig(population_size=60, max_generations=None)
    found = fit_gplearn(rows, np.sin(rows[:, 0]), names=["x", "y"], config=config, seed=0, timeout=1e-9)
    assert (found.n_evaluations, found.stopped) == (60, "timeout")


def test_exponentials_are_offered_and_stay_finite(rows):
    config = GplearnConfig(operators=("*", "exp"), const_range=None, population_size=100, max_generations=2)
    found = fit_gplearn(rows, np.exp(rows[:, 0]), names=["x", "y"], config=config, seed=0)
    assert to_text(found.program) == "exp(x)"
    assert np.isfinite(found.predict(np.full((1, 2), 1e3))).all()


def test_a_run_without_any_limit_is_refused(rows):
    with pytest.raises(SettingError, match="needs a limit"):
        fit_gplearn(rows, rows[:, 0], names=["x", "y"], config=GplearnConfig(max_generations=None), seed=0)


def test_an_operator_that_gplearn_does_not_have_is_named():
    with pytest.raises(SettingError, match="no operator 'tanh'"):
        GplearnConfig(operators=("+", "tanh"))


def test_settings_name_the_version():
    assert "gplearn" in GplearnConfig().to_dict()


def test_without_gplearn_the_error_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "gplearn", None)
    monkeypatch.setitem(sys.modules, "gplearn.genetic", None)
    with pytest.raises(SplError) as raised:
        require_gplearn()
    assert str(raised.value) == NO_GPLEARN
    assert 'pip install "symbolic-physics-learner[bench]"' in NO_GPLEARN
