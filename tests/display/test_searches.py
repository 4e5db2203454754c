"""The progress of counted searches."""

import io

from rich.console import Console

from spl.display.searches import CountBar, CountLines, SearchCount, open_count


def test_without_a_terminal_there_is_a_line_for_each_fifth():
    console = Console(file=io.StringIO(), width=80)
    with open_count(console) as watch:
        assert isinstance(watch, CountLines)
        for done in range(21):
            watch(done, 20)
    lines = console.file.getvalue().splitlines()
    assert [line.split(" s  ")[1] for line in lines] == [f"{4 * part} of 20 searches done" for part in range(1, 6)]


def test_a_bar_shows_the_count_and_disappears(monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    console = Console(file=io.StringIO(), width=120, force_terminal=True)
    with CountBar(console) as watch:
        watch(3, 7)
        watch._progress.refresh()
    assert "3 of 7" in console.file.getvalue()


def test_the_base_class_shows_nothing(capsys):
    with SearchCount() as watch:
        watch(1, 2)
    assert capsys.readouterr().out == ""
