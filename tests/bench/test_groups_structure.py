"""Whether a formula with own numbers is the law: spelling plays no part, numbers that need not be own do."""

import pytest

from spl.bench.groups_structure import has_grouped_structure, is_grouped_law
from spl.datasets import load_grouped_law, make_grouped_test
from spl.formulas.own_numbers import OwnNumber
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression

LABELS = tuple(f"cup {k + 1}" for k in range(10))


def true_numbers(unseen, grouping, label):
    """Return the own numbers of a group by name."""
    rows = unseen.rows_of(grouping, label)
    return {name: values[rows][0] for name, values in unseen.own.items()}


def judge(law_name, text, **functions):
    """Return whether a formula is the law, if its own numbers are these functions of the true ones."""
    law = load_grouped_law(law_name)
    unseen = make_grouped_test(law)
    [grouping] = law.groupings
    labels = tuple(dict.fromkeys(unseen.labels[grouping].tolist()))
    own = [
        OwnNumber(name, grouping, labels, tuple(function(true_numbers(unseen, grouping, label)) for label in labels))
        for name, function in functions.items()
    ]
    program = parse_expression(text, Vocabulary((*law.variables, *functions)))
    return is_grouped_law(program, own, unseen.exact, law, unseen, is_noisy=True)


@pytest.mark.parametrize(
    ("law", "text", "own"),
    [
        ("cooling", "20.7 + (h - 20.7)*exp(-k1*t)", {"k1": lambda true: 1.02 * true["k"]}),
        ("cooling", "h*k1**t - 20.7*k1**t + 21.1", {"k1": lambda true: 0.99 * 2.718281828 ** -true["k"]}),
        ("electrode", "25.5*log(k1/c)", {"k1": lambda true: 1.01 * 2.718281828 ** (true["e"] / 25.7)}),
        ("allometry", "(k1*m)**0.74", {"k1": lambda true: 1.03 * true["a"] ** (4 / 3)}),
    ],
)
def test_the_law_in_another_spelling_is_the_law(law, text, own):
    assert judge(law, text, **own)


@pytest.mark.parametrize(
    ("law", "text", "own"),
    [
        ("cooling", "21 + (h - 21)*exp(-0.1*t)", {}),  # nothing is own
        ("cooling", "k2 + (h - 21)*exp(-k1*t)", {"k1": lambda true: true["k"], "k2": lambda true: 21.0}),  # too much is
        ("cooling", "k1 + (h - 21)*exp(-0.08*t)", {"k1": lambda true: 21.0}),  # the wrong number is
        ("cooling", "21 + (h - 21)*exp(-k1*t) + 0.1*t", {"k1": lambda true: true["k"]}),  # a term too many
        ("motor", "k1*i - 0.03*w", {"k1": lambda true: true["k"]}),  # a term is missing
    ],
)
def test_other_formulas_are_not(law, text, own):
    assert not judge(law, text, **own)


def test_exact_data_asks_for_exact_values():
    law = load_grouped_law("cooling")
    unseen = make_grouped_test(law)
    own = [OwnNumber("k1", "cup", LABELS, tuple(unseen.own["k"][::50].tolist()))]
    program = parse_expression("21 + (h - 21)*exp(-k1*t)", Vocabulary(("h", "t", "k1")))
    assert is_grouped_law(program, own, unseen.exact, law, unseen, is_noisy=False)
    assert not is_grouped_law(program, own, 1.001 * unseen.exact, law, unseen, is_noisy=False)
    assert has_grouped_structure(program, own, unseen)


def test_numbers_of_two_groupings_are_judged_by_rows_of_all_groups():
    law = load_grouped_law("attenuation")
    unseen = make_grouped_test(law)
    own = []
    for name, grouping, true_name in (("k1", "source", "s"), ("k2", "material", "m")):
        labels = tuple(dict.fromkeys(unseen.labels[grouping].tolist()))
        values = [1.01 * true_numbers(unseen, grouping, label)[true_name] for label in labels]
        own.append(OwnNumber(name, grouping, labels, tuple(values)))
    for text, is_law in (("k1/exp(d*k2)", True), ("k1/(1 + d*k2)", False)):
        program = parse_expression(text, Vocabulary((*law.variables, "k1", "k2")))
        assert is_grouped_law(program, own, unseen.exact, law, unseen, is_noisy=True) == is_law
