import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spl.errors import SettingError
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.regression.candidate import Candidate
from spl.regression.description_length import description_length
from spl.regression.front import MIN_IMPROVEMENT, SELECTIONS, Front, check_selection

WORDS = Vocabulary(("x",))


def make_candidate(cost, loss, n_constants=0):
    """Return a candidate of a given cost: squares of x, or of a sum with constants, squared again and again."""
    core = " + ".join(["C"] * n_constants + ["x"])
    n_squares = cost - (2 * n_constants + 1)
    text = "(" * n_squares + core + ")**2" * n_squares
    program = parse_expression(text, WORDS).with_constants(np.ones(n_constants))
    candidate = Candidate(program, loss)
    assert candidate.cost == cost
    return candidate


def make_front(*points):
    front = Front.from_candidates(make_candidate(*point) for point in points)
    assert len(front) == len(points), "one of them is dominated"
    return front


LOSSES = st.sampled_from([0.0, 1e-12, 0.5, np.inf, np.nan]) | st.floats(0, 1e6)
CANDIDATES = st.lists(st.builds(make_candidate, st.integers(1, 12), LOSSES), max_size=25)
FLOORS = st.sampled_from([0.0, 1e-9, 0.1])


@given(CANDIDATES, FLOORS)
def test_no_member_of_a_front_dominates_another(candidates, floor):
    front = Front.from_candidates(candidates, floor)
    for cheap, costly in zip(front, front.candidates[1:], strict=False):
        assert cheap.cost < costly.cost
        assert max(cheap.loss, floor) > max(costly.loss, floor)


@given(CANDIDATES, FLOORS)
def test_no_candidate_is_worth_more_than_the_front(candidates, floor):
    front = Front.from_candidates(candidates, floor)
    for candidate in (candidate for candidate in candidates if np.isfinite(candidate.loss)):
        rivals = [max(member.loss, floor) for member in front if member.cost <= candidate.cost]
        assert min(rivals) * (1 - MIN_IMPROVEMENT) <= max(candidate.loss, floor)


@given(CANDIDATES, FLOORS)
def test_a_front_made_of_a_front_is_the_same(candidates, floor):
    front = Front.from_candidates(candidates, floor)
    assert Front.from_candidates(front, floor) == front


@given(CANDIDATES, FLOORS)
def test_the_order_of_the_candidates_does_not_change_the_losses_of_the_front(candidates, floor):
    losses = [candidate.loss for candidate in Front.from_candidates(candidates, floor)]
    assert [candidate.loss for candidate in Front.from_candidates(candidates[::-1], floor)] == losses


@given(CANDIDATES)
def test_a_front_has_no_loss_that_is_not_a_number(candidates):
    assert all(np.isfinite(candidate.loss) for candidate in Front.from_candidates(candidates))


def test_the_cheaper_of_two_exact_laws_stays():
    front = Front.from_candidates([make_candidate(5, 1e-16), make_candidate(3, 1e-13)], floor=1e-11)
    assert [candidate.cost for candidate in front] == [3]


def test_a_costlier_candidate_that_is_hardly_better_is_left_out():
    front = Front.from_candidates([make_candidate(1, 1.0), make_candidate(2, 0.9995), make_candidate(3, 0.99)])
    assert [candidate.cost for candidate in front] == [1, 3]


def test_a_formula_is_not_driven_out_by_one_that_is_hardly_better_with_more_numbers():
    law, imitation = make_candidate(8, 1.0, n_constants=1), make_candidate(8, 0.99, n_constants=3)
    assert Front.from_candidates([law, imitation], n_rows=200).candidates == (law,)
    better = make_candidate(8, 0.9, n_constants=3)
    assert Front.from_candidates([law, better], n_rows=200).candidates == (better,)


DIFFERENT = st.lists(
    st.builds(make_candidate, st.integers(7, 12), st.floats(1.0, 2.0), st.integers(0, 3)),
    min_size=1,
    max_size=25,
    unique_by=lambda candidate: round(candidate.loss, 6),
)


@given(DIFFERENT)
def test_the_shortest_description_of_all_is_in_the_front(candidates):
    front = Front.from_candidates(candidates, n_rows=100)
    shortest = min(description_length(candidate, 100, 0.0) for candidate in candidates)
    assert description_length(front[front.choose("mdl", 100, 0.0)], 100, 0.0) == shortest
    for cheap, costly in zip(front, front.candidates[1:], strict=False):
        assert cheap.cost < costly.cost
        assert cheap.loss > costly.loss


def test_of_one_function_in_two_spellings_the_cheaper_stays_whatever_its_numbers():
    cheap, costly = make_candidate(7, 1.0, n_constants=2), make_candidate(8, 1.0)
    assert Front.from_candidates([costly, cheap], n_rows=8).candidates == (cheap,)


def test_a_front_is_a_sequence():
    front = make_front((1, 3.0), (2, 2.0))
    assert len(front) == 2
    assert [front[0].cost, front[-1].cost] == [candidate.cost for candidate in front]


def test_scores_are_the_fall_of_the_logarithm_of_the_loss_per_cost():
    scores = make_front((1, np.e**3), (2, np.e**2), (5, np.e**-1)).scores()
    assert scores == pytest.approx([0.0, 1.0, 1.0])


def test_an_empty_front_has_no_scores():
    assert Front(()).scores() == []


def test_scores_of_an_exact_law_are_finite():
    assert np.all(np.isfinite(make_front((1, 1.0), (2, 0.0)).scores()))


# A loss that falls a hundredfold at cost 5 and hardly any further
KNEE = [(1, 10.0), (3, 8.0), (5, 0.01), (9, 0.0099), (12, 0.0098)]


@pytest.mark.parametrize("selection", ["mdl", "bic", "knee"])
def test_the_rules_of_parsimony_prefer_the_last_great_fall(selection):
    assert make_front(*KNEE).choose(selection, 100, 0.0) == 2


def test_accurate_prefers_the_lowest_loss():
    assert make_front(*KNEE).choose("accurate", 100, 0.0) == 4


@pytest.mark.parametrize("selection", SELECTIONS)
def test_an_exact_law_is_chosen_by_every_rule(selection):
    front = make_front((1, 10.0), (3, 5.0), (6, 0.0))
    assert front.choose(selection, 100, 1e-11) == 2


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("points", [[(3, 1.0)], [(3, 0.0)]])
def test_a_front_of_one_leaves_no_choice(selection, points):
    assert make_front(*points).choose(selection, 10, 0.0) == 0


@pytest.mark.parametrize("selection", ["mdl", "bic"])
def test_more_rows_justify_a_costlier_law(selection):
    front = make_front((2, 1.0), (6, 0.9))
    assert [front.choose(selection, n_rows, 0.0) for n_rows in (20, 100_000)] == [0, 1]


@pytest.mark.parametrize("selection", ["mdl", "bic"])
def test_a_constant_must_earn_its_place(selection):
    without, with_constants = make_front((2, 1.0), (8, 0.5)), make_front((2, 1.0), (8, 0.5, 3))
    n_rows = next(n for n in range(5, 500) if without.choose(selection, n, 0.0) == 1)
    assert with_constants.choose(selection, n_rows, 0.0) == 0


def test_a_function_must_earn_more_than_an_operation():
    words = Vocabulary(("x",))
    plain, square, root = (Candidate(parse_expression(text, words), 1.0) for text in ("x", "x**2", "sqrt(x)"))
    costs = [description_length(candidate, 1000, 0.0) for candidate in (plain, square, root)]
    assert costs[0] < costs[1] < costs[2]


def test_a_number_that_came_out_clean_costs_as_much_as_a_fitted_one():
    words = Vocabulary(("x",))
    fitted, clean = (parse_expression(text, words) for text in ("C * x", "0.5 * x"))
    rival = parse_expression("x", words)
    for n_rows in (10, 30, 100):
        choices = [
            Front((Candidate(rival, 1.0), Candidate(law, 0.95))).choose("mdl", n_rows, 0.0) for law in (fitted, clean)
        ]
        assert choices[0] == choices[1]


def test_a_formula_with_as_many_numbers_as_rows_is_not_chosen_however_well_it_fits():
    front = make_front((1, 1.0), (3, 1e-4, 1), (18, 1e-15, 8))
    assert front.choose("mdl", 8, 1e-13) == 1
    assert front.choose("mdl", 80, 1e-13) == 2


def test_an_exact_law_with_one_number_is_chosen_from_three_rows():
    assert make_front((1, 1.0), (3, 1e-15, 1)).choose("mdl", 3, 1e-13) == 1


def test_bic_is_the_bayesian_information_criterion():
    front = make_front((2, 1.0), (6, 0.5), (11, 0.45, 2))
    n_rows = 40
    halves = [n_rows * np.log(c.loss) + 0.5 * (c.cost + c.program.n_constants) * np.log(n_rows) for c in front]
    assert front.choose("bic", n_rows, 0.0) == int(np.argmin(halves))


def test_an_unknown_rule_is_refused_with_those_there_are():
    with pytest.raises(
        SettingError, match=r"`selection` must be one of mdl, bic, accurate, knee, validation; got 'best'"
    ):
        check_selection("best")


def test_choosing_by_an_unknown_rule_is_refused():
    with pytest.raises(SettingError):
        make_front((1, 1.0)).choose("best", 10, 0.0)
