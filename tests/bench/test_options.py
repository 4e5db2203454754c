"""Options that several experiments share."""

import math
import os

import click
import pytest
from click.testing import CliRunner

from spl.bench.options import RESULTS_FOLDER, RunOptions, finite, running_options, split_words, threads_option


@click.command()
@threads_option
@running_options()
def command(threads, running):
    click.echo(f"{threads} {running.jobs} {running.results} {running.is_fresh} {running.is_json}")


def test_a_command_gets_the_shared_options_as_one_record():
    result = CliRunner().invoke(command, ["--jobs", "1", "--threads", "1", "--results", "r.jsonl", "--fresh"])
    assert result.output == "1 1 r.jsonl True False\n"


def test_all_cores_can_be_asked_for():
    result = CliRunner().invoke(command, ["--jobs", "-1", "--threads", "-1", "--json"])
    assert result.output == f"{os.cpu_count()} {os.cpu_count()} None False True\n"


@pytest.mark.parametrize("option", ["--jobs", "--threads"])
def test_more_jobs_than_cores_are_refused(option):
    too_many = (os.cpu_count() or 1) + 1
    result = CliRunner().invoke(command, [option, str(too_many)])
    assert result.exit_code == 2
    assert f"got {too_many}." in result.output


def test_results_go_to_the_named_file_or_to_the_folder_of_results():
    named = RunOptions(jobs=1, results="mine.jsonl", is_fresh=False, is_json=False)
    usual = RunOptions(jobs=1, results=None, is_fresh=False, is_json=False)
    assert named.results_file("noise").name == "mine.jsonl"
    assert usual.results_file("noise") == RESULTS_FOLDER / "noise.jsonl"


def test_no_limit_is_none():
    assert finite(math.inf) is None
    assert finite(2.5) == 2.5


def test_words_are_separated_by_commas_and_spaces():
    assert split_words("a, b  c,") == ["a", "b", "c"]
