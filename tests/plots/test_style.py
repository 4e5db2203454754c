"""One style for all figures, and files in which text is text."""

import sys
import zlib

import pytest

from spl.errors import SettingError
from spl.plots.style import check_plot, check_plot_file, label, limits, make_figure, save_figure, style, typeset

pytest.importorskip("matplotlib")


def titled(text):
    figure = make_figure(4, 3)
    with style():
        figure.add_subplot().set_title(text)
    return figure


@pytest.mark.parametrize("name", ["a$b", "$x$", "x_1^2", r"\alpha", "$", "100 %", r"\$x$", "a\nb", "<b>&amp;</b>"])
def test_any_name_is_drawn_as_it_is(name, tmp_path):
    save_figure(titled(label(name)), str(tmp_path / "plot.svg"))
    shown = name.replace("\n", " ").replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert f">{shown}</text>" in (tmp_path / "plot.svg").read_text()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("plot.docx", "The plot must end in .png, .pdf, .svg"),
        ("nowhere/plot.png", "The folder of the plot"),
        ("folder.png", "is a directory"),
    ],
)
def test_a_file_that_cannot_be_is_refused_before_the_work(tmp_path, name, message):
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(SettingError, match=message):
        check_plot_file(str(tmp_path / name))


@pytest.mark.parametrize("act", [lambda path: check_plot(path), lambda _: make_figure(2, 2)])
def test_without_matplotlib_it_says_what_to_install(tmp_path, monkeypatch, act):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(SettingError, match=r"pip install \"symbolic-physics-learner\[plot\]\""):
        act(str(tmp_path / "plot.png"))


def test_a_file_that_cannot_be_written_is_an_error_of_ours(tmp_path):
    (tmp_path / "taken.png").mkdir()
    with pytest.raises(SettingError, match="cannot be written"):
        save_figure(titled("x"), str(tmp_path / "taken.png"))


def test_text_stays_text_in_svg_also_when_the_user_saves(tmp_path):
    titled("flow rate").savefig(tmp_path / "plot.svg")
    assert ">flow rate</text>" in (tmp_path / "plot.svg").read_text()


@pytest.mark.slow
def test_fonts_of_a_pdf_are_truetype(tmp_path):
    titled("flow rate").savefig(tmp_path / "plot.pdf")
    parts = (tmp_path / "plot.pdf").read_bytes().split(b"stream\n")
    assert any(b"/CIDFontType2" in part or b"/TrueType" in part for part in [*parts, *map(unpack, parts)])
    assert not any(b"/Type3" in part for part in parts)


def unpack(part):
    try:
        return zlib.decompressobj().decompress(part)
    except zlib.error:
        return b""


def test_the_settings_of_the_user_are_left_alone():
    import matplotlib

    before = dict(matplotlib.rcParams)
    titled("x")
    assert dict(matplotlib.rcParams) == before


def test_a_notebook_shows_a_figure():
    assert titled("x")._repr_png_().startswith(b"\x89PNG")


def test_an_equation_too_wide_to_be_typeset_is_plain_and_cut():
    assert typeset("x + " * 60 + "x", "x + " * 60 + "x", inches=4).endswith("...")


def test_limits_hold_whatever_the_values_are():
    import numpy as np

    nan = np.array([np.nan, np.inf])
    assert limits(nan, 0.1) == (0.0, 1.0)
    assert limits(np.array([3.0, 3.0]), 0.1) == pytest.approx((2.85, 3.15))
    assert limits(np.array([0.0, 1.0, np.nan]), 0.1) == pytest.approx((-0.1, 1.1))
