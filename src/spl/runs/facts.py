"""What a run file says about its run as a whole: kind, status, settings, versions. It is checked once, when it is read."""

import sqlite3
from collections.abc import Mapping
from typing import Any

from spl.checked_values import (
    Damage,
    StoredFields,
    as_fields,
    as_list,
    as_text,
    as_texts,
    as_truth,
    as_whole,
    checked_as_stored,
    load_json,
)
from spl.settings import Limits, SearchConfig

REGRESSION, DYNAMICS = "regression", "dynamics"  # kinds of runs
RUNNING, FINISHED, INTERRUPTED, DIED = "running", "finished", "interrupted", "died"  # their status
_LIMITS = ("timeout", "max_evaluations")
_CONFIG = tuple(SearchConfig().to_dict())


def read_facts(connection: sqlite3.Connection) -> StoredFields:
    """Return what is known about a run, by name; nothing if it has not started."""
    rows = connection.execute("SELECT name, value FROM facts").fetchall()
    facts = StoredFields({as_text(name): load_json(value) for name, value in rows})
    if facts:
        _check_facts(facts)
    return facts


def config_from_plain(plain: Mapping[str, Any]) -> SearchConfig:
    """Return the settings of a search."""
    return SearchConfig(**{**plain, "closers": tuple(plain["closers"])})


def _check_facts(facts: StoredFields) -> None:
    if facts["kind"] not in (REGRESSION, DYNAMICS):
        raise Damage("the kind of its run is not known")
    if facts["status"] not in (RUNNING, FINISHED, INTERRUPTED):
        raise Damage("its status is not known")
    for name in ("stopped", "began", "fingerprint"):
        as_text(facts[name])
    for name in ("source", "selection", "ended"):
        if facts.get(name) is not None:
            as_text(facts[name])
    as_truth(facts.get("has_names", True))
    as_texts(facts.get("notes", []))
    for text in as_fields(facts["versions"]).values():
        as_text(text)
    _check_settings(as_fields(facts["settings"]), facts["kind"])


def _check_settings(settings: StoredFields, kind: str) -> None:
    as_whole(settings["seed"])
    if type(settings["jobs"]) is not int:
        raise Damage("the number of jobs is not a whole number")
    limits = as_fields(settings["limits"]).check_names(_LIMITS)
    config = as_fields(settings["config"]).check_names(_CONFIG)
    as_list(config["closers"])
    as_text(settings.get("form", ""))
    as_texts(settings.get("guesses", []))
    with checked_as_stored():
        Limits(timeout=limits["timeout"], max_evaluations=limits["max_evaluations"])
        config_from_plain(config)
    if kind == DYNAMICS:
        plan = as_fields(settings["plan"]).check_names(("method", "order", "is_discrete", "is_implicit"))
        as_text(plan["method"])
        as_whole(plan["order"])
        as_truth(plan["is_discrete"])
        as_truth(plan.get("is_implicit", False))
