import json
import sqlite3

import pytest
from tests.run_examples import make_config

from spl.checked_values import Damage
from spl.runs.facts import config_from_plain, read_facts

SETTINGS = {
    "config": make_config().to_dict(),
    "limits": {"timeout": 1.0, "max_evaluations": None},
    "seed": 3,
    "jobs": -1,
}
FACTS = {
    "kind": "regression",
    "status": "finished",
    "stopped": "timeout",
    "began": "2026-11-17",
    "fingerprint": "0",
    "versions": {"numpy": "2.0"},
    "settings": SETTINGS,
}


def read(facts):
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL)")
    connection.executemany("INSERT INTO facts VALUES (?, ?)", [(name, json.dumps(facts[name])) for name in facts])
    try:
        return read_facts(connection)
    finally:
        connection.close()


def test_facts_come_back_and_make_the_configuration():
    facts = read(FACTS)
    assert facts == json.loads(json.dumps(FACTS))
    assert config_from_plain(facts["settings"]["config"]) == make_config()


def test_a_run_that_has_not_begun_has_no_facts():
    assert read({}) == {}


@pytest.mark.parametrize("name", list(FACTS))
def test_a_fact_that_is_missing_is_damage(name):
    with pytest.raises(Damage, match=f"no `{name}`"):
        read({other: value for other, value in FACTS.items() if other != name})


@pytest.mark.parametrize("name", list(FACTS))
def test_a_fact_of_another_kind_is_damage(name):
    with pytest.raises(Damage):
        read(FACTS | {name: 7.5})


@pytest.mark.parametrize(
    "settings",
    [
        {"seed": -1}, {"jobs": "all"}, {"limits": {"timeout": -1, "max_evaluations": None}}, {"limits": {}},
        {"config": {}}, {"config": SETTINGS["config"] | {"explore": -1}}, {"config": SETTINGS["config"] | {"speed": 1}},
        {"config": SETTINGS["config"] | {"closers": None}},
    ],
)  # fmt: skip
def test_settings_that_spl_never_writes_are_damage(settings):
    with pytest.raises(Damage):
        read(FACTS | {"settings": SETTINGS | settings})


@pytest.mark.parametrize("plan", [None, {}, {"method": 1, "order": 1, "is_discrete": False}, {"speed": 1}])
def test_a_system_without_a_plan_is_damage(plan):
    with pytest.raises(Damage):
        read(FACTS | {"kind": "dynamics", "settings": SETTINGS | {"plan": plan}})
