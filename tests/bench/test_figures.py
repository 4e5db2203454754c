import pytest
from tests.bench.fakes import make_record

from spl.bench.figures import draw_ablation, draw_times
from spl.bench.summaries import summarise
from spl.datasets import load_nguyen
from spl.errors import SettingError

pytest.importorskip("matplotlib")
SUMMARY = summarise([make_record()])


def test_a_problem_that_the_paper_does_not_have_can_be_drawn(tmp_path):
    draw_times({load_nguyen("Nguyen-12-wide"): SUMMARY}, tmp_path / "new" / "times")
    assert (tmp_path / "new" / "times.png").stat().st_size > 1000
    assert "<svg" in (tmp_path / "new" / "times.svg").read_text()


def test_models_that_were_not_run_stay_empty(tmp_path):
    draw_ablation({("Nguyen-1", "SPL"): SUMMARY, ("Nguyen-12", "D"): SUMMARY}, tmp_path / "ablation")
    assert (tmp_path / "ablation.png").stat().st_size > 1000


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingError, match="cannot be written"):
        draw_times({load_nguyen("Nguyen-1"): SUMMARY}, tmp_path / "file" / "times")
