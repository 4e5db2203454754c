import json

import pytest
from tests.bench.fakes import make_record, make_trial

from spl.bench import records
from spl.bench.records import Record, latest, open_results, read
from spl.errors import DataError

FIRST, SECOND = make_record(make_trial(seed=1)), make_record(make_trial(seed=2), error=None, evaluations=None)


@pytest.fixture
def path(tmp_path):
    """A file with two records, in a folder that did not exist."""
    path = tmp_path / "new" / "results.jsonl"
    with open_results(path) as results:
        results.append(FIRST)
        results.append(SECOND)
    return path


def cut(path, n_bytes):
    path.write_bytes(path.read_bytes()[:-n_bytes])


def test_what_is_written_is_read(path):
    assert read(path) == [FIRST, SECOND]


def test_a_line_is_one_flat_object_that_says_everything(path):
    values = json.loads(path.read_text().splitlines()[0])
    assert list(values) == [
        *("experiment", "setting", "tool", "problem", "seed", "timeout"),
        *("formula", "recovered", "error", "seconds", "evaluations", "stopped", "details"),
        *("commit", "versions", "machine", "settings"),
    ]


def test_results_from_before_there_were_details_are_read():
    values = json.loads(FIRST.to_json())
    del values["details"]
    assert Record.from_json(json.dumps(values)) == FIRST


def test_numbers_that_json_does_not_know_are_not_written():
    with pytest.raises(ValueError, match="not JSON compliant"):
        make_record(error=float("nan")).to_json()


@pytest.mark.parametrize("n_bytes", [2, 30, 200])
def test_a_last_line_that_was_cut_off_does_not_count(path, n_bytes):
    cut(path, n_bytes)
    assert read(path) == [FIRST]


def test_a_last_line_that_lacks_only_its_end_counts(path):
    cut(path, 1)
    assert read(path) == [FIRST, SECOND]


@pytest.mark.parametrize(("n_bytes", "kept"), [(0, [FIRST, SECOND]), (1, [FIRST, SECOND]), (2, [FIRST]), (99, [FIRST])])
def test_writing_goes_on_after_a_kill_at_any_point(path, n_bytes, kept):
    if n_bytes:
        cut(path, n_bytes)
    with open_results(path) as results:
        assert results.records == kept
        results.append(FIRST)
    assert read(path) == [*kept, FIRST]


@pytest.mark.parametrize("damage", ["nonsense", "{}", "[1]", '{"seed": 1}', "\x00\x00"])
def test_damage_elsewhere_is_named_with_its_line_and_the_remedy(path, damage):
    path.write_text(f"{FIRST.to_json()}\n{damage}\n{SECOND.to_json()}\n")
    with pytest.raises(DataError, match=r"Line 2 of '.*results\.jsonl' is not a result\. Delete the line, or"):
        read(path)


def test_a_value_of_the_wrong_kind_is_damage():
    line = FIRST.to_json().replace('"seed": 1', '"seed": "one"')
    with pytest.raises(TypeError):
        Record.from_json(line)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(DataError, match=r"The results '.*none\.jsonl' cannot be read: No such file"):
        read(tmp_path / "none.jsonl")


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot be written"), open_results(tmp_path / "file" / "results.jsonl"):
        pass


@pytest.mark.skipif(records.fcntl is None, reason="this system has no such locks")
def test_a_file_has_one_writer(path):
    with open_results(path), pytest.raises(DataError, match="Another process is writing to"), open_results(path):
        pass
    with open_results(path) as results:
        assert len(results.records) == 2


def test_fresh_results_set_the_old_ones_aside_every_time(path):
    for _ in range(2):
        with open_results(path, is_fresh=True) as results:
            assert results.records == []
            results.append(FIRST)
    assert read(path) == [FIRST]
    assert read(path.with_name("results.jsonl.1")) == [FIRST, SECOND]
    assert read(path.with_name("results.jsonl.2")) == [FIRST]


def test_a_damaged_file_can_be_set_aside(path):
    path.write_text("nonsense\n\n")
    with open_results(path, is_fresh=True) as results:
        assert results.records == []


def test_the_last_record_of_a_trial_counts():
    again = make_record(FIRST.trial, formula="y")
    assert latest([FIRST, SECOND, again]) == [again, SECOND]
