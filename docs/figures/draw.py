"""Draw the figures of the documents into docs/images: `make figures`."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from form_figures import draw_known_parts
from identifiability_figures import draw_one_trajectory
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from report_figures import write_how_sure_charts
from small_search import Episode, Node, run_episode, write
from system_figures import draw_coarse, draw_experiments, draw_implicit, draw_strong_noise, draw_weak
from uncertainty_figures import draw_next, draw_trust, draw_validation
from unit_figures import draw_units

from spl.data.dataset import Dataset
from spl.formulas.constant_slots import numbers_to_constants
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.noise.models import POISSON, STUDENT
from spl.plots.style import FOUND_COLOUR, GREY, MEASURED_COLOUR, NUMBER_COLOUR, OUTLIER_COLOUR
from spl.regression.column_screening import screen_columns
from spl.regression.description_length import description_length, misfit
from spl.regression.fit import evaluate, fit, fit_constant
from spl.regression.outliers import find_outliers
from spl.regression.relevance import measure_relevance

IMAGES = Path(__file__).parent.parent / "images"
LOOK = {
    "svg.fonttype": "path",
    "svg.hashsalt": "spl",  # makes the files reproducible
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "font.size": 10,
}
GREEN = "#009E73"  # from the palette of Okabe and Ito, like the others
SEED = 1
MOST_DRAWN = 12  # only the most visited nodes are drawn; there is no room for more


# ---- the search ----------------------------------------------------------------------------------


def draw_episode(figure: Figure) -> None:
    """Draw the four steps of one episode side by side."""
    figure.set_size_inches(11, 8)
    rng = np.random.default_rng(SEED)
    root = Node()
    for _ in range(9):
        run_episode(root, rng)
    before = _copy(root)
    episode = run_episode(root, rng)
    after = _copy(root)
    places = _place(after)
    steps = ("1. selection", "2. expansion", "3. simulation", "4. backpropagation")
    for axes, step in zip(figure.subplots(2, 2).flat, steps, strict=True):
        tree = after if step.startswith("4") else before
        _draw_tree(axes, tree, places, episode, step)


def draw_growth(figure: Figure) -> None:
    """Draw the tree after 5, 25 and 250 episodes: it grows where the reward is."""
    figure.set_size_inches(10, 11)
    rng = np.random.default_rng(SEED)
    root = Node()
    done = 0
    for axes, n_episodes in zip(figure.subplots(3, 1, height_ratios=(3, 4, 7)), (5, 25, 250), strict=True):
        episodes = [run_episode(root, rng) for _ in range(n_episodes - done)]
        done = n_episodes
        best = max(episodes, key=lambda e: e.reward)
        tree = _copy(root, most=MOST_DRAWN)
        _draw_tree(axes, tree, _place(tree), None, f"after {n_episodes} episodes")
        text = f"best of these: {write(best.formula)}\nreward {best.reward:.3f}"
        axes.text(1, 1, text, transform=axes.transAxes, ha="right", va="top", color=FOUND_COLOUR)


def _copy(root: Node, most: int | None = None) -> Node:
    """Return a copy of the tree: all of it, or only its most visited nodes."""
    nodes = sorted(_walk(root), key=lambda node: -node.n_visits)
    kept = {node.rules for node in nodes[:most]}

    def copy(node: Node) -> Node:
        children = {rule: copy(child) for rule, child in sorted(node.children.items()) if child.rules in kept}
        return Node(node.rules, node.n_visits, node.best, children)

    return copy(root)


def _walk(node: Node) -> list[Node]:
    return [node] + [inner for child in node.children.values() for inner in _walk(child)]


def _place(root: Node) -> dict[tuple[int, ...], tuple[float, float]]:
    """Return the position of each node: leaves side by side, all others above the middle of their children."""
    places: dict[tuple[int, ...], tuple[float, float]] = {}
    n_leaves = 0

    def place(node: Node) -> float:
        nonlocal n_leaves
        across = [place(child) for child in node.children.values()]
        if not across:
            across = [float(n_leaves)]
            n_leaves += 1
        places[node.rules] = ((across[0] + across[-1]) / 2, -float(len(node.rules)))
        return places[node.rules][0]

    place(root)
    return places


def _draw_tree(
    axes: Axes,
    root: Node,
    places: dict[tuple[int, ...], tuple[float, float]],
    episode: Episode | None,
    title: str,
) -> None:
    step = int(title[0]) if episode else 0
    path = {node.rules for node in episode.path} if episode else set()
    new = episode.path[-1].rules if episode else None
    lit = path - {new} if step == 1 else {new} if step in (2, 3) else path
    for node in _walk(root):
        for child in node.children.values():
            on_path = step in (1, 4) and child.rules in lit
            _draw_edge(axes, places[node.rules], places[child.rules], FOUND_COLOUR if on_path else GREY)
    if episode and step in (2, 3):
        _draw_edge(axes, places[episode.path[-2].rules], places[new], FOUND_COLOUR)
        _draw_node(axes, places[new], write(new), FOUND_COLOUR)
    for node in _walk(root):
        label = f"{write(node.rules)}\nN {node.n_visits}  Q {node.best:.2f}"
        _draw_node(axes, places[node.rules], label, FOUND_COLOUR if node.rules in lit else GREY)
    low = min(y for _, y in places.values())
    if episode and step == 3:
        end = (places[new][0], places[new][1] - 1)
        axes.plot((places[new][0], end[0]), (places[new][1], end[1]), color=GREEN, lw=1.4, ls=(0, (2, 2)), zorder=1)
        _draw_node(axes, end, f"{write(episode.formula)}\nreward {episode.reward:.2f}", GREEN)
    axes.set_title(title, loc="left")
    axes.set_xlim(-0.7, max(x for x, _ in places.values()) + 0.7)
    axes.set_ylim(low - (1.5 if episode else 0.5), 0.5)
    axes.set_axis_off()


def _draw_edge(axes: Axes, start: tuple[float, float], end: tuple[float, float], colour: str) -> None:
    axes.plot((start[0], end[0]), (start[1], end[1]), color=colour, lw=2 if colour == FOUND_COLOUR else 1, zorder=1)


def _draw_node(axes: Axes, place: tuple[float, float], text: str, colour: str) -> None:
    box = {"boxstyle": "round,pad=0.25", "facecolor": "white", "edgecolor": colour, "linewidth": 1.6}
    axes.text(*place, text, ha="center", va="center", fontsize=8, bbox=box, zorder=2)


# ---- reward, constants ----------------------------------------------------------------


def draw_reward(figure: Figure) -> None:
    """Draw the reward against the error, for formulas of three lengths."""
    figure.set_size_inches(6.4, 3.4)
    axes = figure.add_subplot()
    error = np.linspace(0, 3, 300)
    for n_rules, colour in ((5, FOUND_COLOUR), (20, NUMBER_COLOUR), (50, MEASURED_COLOUR)):
        axes.plot(error, 0.99**n_rules / (1 + error), color=colour, lw=2, label=f"{n_rules} rules")
    axes.set_xlabel("error of the formula (RMSE)")
    axes.set_ylabel("reward, η = 0.99")
    axes.set_ylim(0, 1.02)
    axes.legend()


def draw_choice(figure: Figure) -> None:
    """Draw the gain of sines of many frequencies over a constant, and their price: for noise, and for a law with noise."""
    figure.set_size_inches(9.2, 3.2)
    rng = np.random.default_rng(4)
    x, noise = rng.uniform(-3, 3, 60), rng.standard_normal(60)
    frequencies = np.arange(0.25, 40, 0.25)
    titles = {"noise alone": noise, "sin(2 x) with the same noise": np.sin(2 * x) + 0.6 * noise}
    for axes, (title, target) in zip(figure.subplots(1, 2), titles.items(), strict=True):
        data = Dataset.from_arrays(x[:, np.newaxis], target, names=["x"])
        words = Vocabulary(("x",))
        constant = fit_constant(data, words)
        sine = parse_expression("C*sin(C*x)", words)
        found = [fit(sine.with_constants(np.array([1.0, f])), data) for f in frequencies]
        gains = [misfit(constant, 60, 0.0) - misfit(wave, 60, 0.0) for wave in found]
        prices = [
            gain + description_length(wave, 60, 0.0) - description_length(constant, 60, 0.0)
            for gain, wave in zip(gains, found, strict=True)
        ]
        places = [abs(wave.program.constants[1]) for wave in found]
        axes.plot(places, gains, ".", color=MEASURED_COLOUR, label="gain over a constant")
        axes.plot(places, prices, "_", color=FOUND_COLOUR, label="price")
        axes.set(title=title, xlabel="frequency", xlim=(0, 40), ylim=(0, None))
    figure.axes[0].set_ylabel("nats")
    figure.axes[0].legend()


def draw_constants(figure: Figure) -> None:
    """Draw the error against a constant that enters linearly, and against one that does not."""
    figure.set_size_inches(8.6, 3.2)
    x = np.linspace(0, 6, 80)
    y = 2 * np.sin(1.7 * x)
    values = np.linspace(-1, 5, 600)
    linear, nested = figure.subplots(1, 2)
    linear.plot(values, [np.sqrt(np.mean((c * np.sin(1.7 * x) - y) ** 2)) for c in values], color=MEASURED_COLOUR, lw=2)
    linear.plot(2, 0, "o", color=FOUND_COLOUR)
    linear.set(title="C in C·sin(1.7 x): one least-squares solution", xlabel="C", ylabel="error (RMSE)")
    nested.plot(values, [np.sqrt(np.mean((2 * np.sin(c * x) - y) ** 2)) for c in values], color=MEASURED_COLOUR, lw=2)
    nested.plot(1.7, 0, "o", color=FOUND_COLOUR)
    nested.set(title="C in 2·sin(C x): many valleys, several starts", xlabel="C")


# ---- noise -----------------------------------------------------------------------------------------


def draw_noise(figure: Figure) -> None:
    """Draw errors that grow with the value, and how much each row counts with and without that knowledge."""
    figure.set_size_inches(8.6, 3.2)
    rng = np.random.default_rng(0)
    distance = np.geomspace(0.3, 30, 80)
    law = distance**1.5
    period = law * (1 + 0.05 * rng.standard_normal(80))
    errors, shares = figure.subplots(1, 2)
    errors.axhline(0, lw=1, color=GREY)
    errors.plot(law, period - law, ".", color=MEASURED_COLOUR)
    errors.plot(law, np.outer(law, (-0.05, 0.05)), lw=1.2, color=FOUND_COLOUR)
    errors.set(xscale="log", xlabel="value", ylabel="error")
    squares = {"least squares": (period - law) ** 2, "relative noise": (period / law - 1) ** 2}
    for (name, square), colour in zip(squares.items(), (GREY, FOUND_COLOUR), strict=True):
        shares.plot(law, np.cumsum(square) / square.sum(), lw=2, color=colour, label=name)
    shares.set(xscale="log", xlabel="value", ylabel="share of the misfit up to this value")
    shares.legend()


def draw_outliers(figure: Figure) -> None:
    """Draw a law with outliers, fitted by least squares and with a noise model that allows for them."""
    figure.set_size_inches(6.4, 3.4)
    rng = np.random.default_rng(0)
    x = np.linspace(0, 10, 80)
    y = 3 * np.exp(-0.4 * x) + 0.02 * rng.standard_normal(80)
    y[::8] += rng.uniform(1, 3, 10)
    data = Dataset.from_arrays(x[:, np.newaxis], y, names=["x"])
    program = parse_expression("3.0*exp(-0.4*x)", Vocabulary(("x",)))
    free = numbers_to_constants(program)
    plain, robust = fit(free, data), fit(free, replace(data, noise=STUDENT))
    is_outlier = np.isin(np.arange(80), find_outliers(robust.program, data))
    axes = figure.subplots()
    axes.plot(x[~is_outlier], y[~is_outlier], ".", color=MEASURED_COLOUR, label="measured")
    axes.plot(x[is_outlier], y[is_outlier], "x", color=OUTLIER_COLOUR, label="outliers")
    axes.plot(x, evaluate(plain.program, data.columns), "--", color=GREY, label="least squares")
    axes.plot(x, evaluate(robust.program, data.columns), color=FOUND_COLOUR, label='noise="student"')
    axes.set(xlabel="x", ylabel="y")
    axes.legend()


def draw_shapes(figure: Figure) -> None:
    """Draw a decay beyond its rows: the formula that a search finds without statements, and with them."""
    figure.set_size_inches(6.4, 3.4)
    rng = np.random.default_rng(4)
    time = np.sort(rng.uniform(0, 2, 12))
    measured = 5 * np.exp(-time / 2.3) + 0.05 * rng.standard_normal(12)
    data = Dataset.from_arrays(time[:, np.newaxis], measured, names=["t"])
    later = np.linspace(0, 8, 200)[np.newaxis, :]
    axes = figure.subplots()
    axes.axhline(0, color=GREY, lw=0.8)
    axes.axvspan(0, 2, color=GREY, alpha=0.15, lw=0)
    for text, numbers, look, colour, label in (
        ("C - t", [4.2], "--", GREY, "without statements"),
        ("C*exp(C*t)", [5.0, -0.4], "-", FOUND_COLOUR, "V > 0, decreasing, V -> 0"),
    ):
        program = fit(parse_expression(text, Vocabulary(("t",))).with_constants(np.array(numbers)), data).program
        axes.plot(later[0], evaluate(program, later), look, color=colour, label=label)
    axes.plot(later[0], 5 * np.exp(-later[0] / 2.3), ":", color=NUMBER_COLOUR, label="law", lw=3)
    axes.plot(time, measured, ".", color=MEASURED_COLOUR, label="measured")
    axes.set(xlabel="t", ylabel="V", ylim=(-4, 5.5))
    axes.legend()


def draw_counts(figure: Figure) -> None:
    """Draw the counts of a decay, their expected values, and how far counts scatter around them."""
    figure.set_size_inches(6.4, 3.4)
    rng = np.random.default_rng(0)
    time = np.linspace(0, 8, 60)
    counts = rng.poisson(30 * np.exp(-0.6 * time)).astype(float)
    data = Dataset.from_arrays(time[:, np.newaxis], counts, names=["t"])
    program = parse_expression("30.0*exp(-0.6*t)", Vocabulary(("t",)))
    rate = evaluate(fit(numbers_to_constants(program), replace(data, noise=POISSON)).program, data.columns)
    axes = figure.subplots()
    axes.fill_between(
        time, rate - np.sqrt(rate), rate + np.sqrt(rate), color=FOUND_COLOUR, alpha=0.2, lw=0, label="± its root"
    )
    axes.plot(time, rate, color=FOUND_COLOUR, label="expected count")
    axes.plot(time, counts, ".", color=MEASURED_COLOUR, label="counted")
    axes.set(xlabel="time", ylabel="count")
    axes.legend()


def draw_start(figure: Figure) -> None:
    """Draw how long the first and later searches take, as `benchmarks/startup.py` measured them."""
    figure.set_size_inches(9, 2.6)
    starts = json.loads((Path(__file__).parent / "start.json").read_text(encoding="utf-8"))[::-1]
    axes = figure.subplots()
    names = [start["what"] for start in starts]
    axes.barh(names, [start["end"] for start in starts], color=GREY, height=0.6, label="to the end")
    axes.barh(names, [start["first"] for start in starts], color=FOUND_COLOUR, height=0.6, label="to the first formula")
    for place, start in enumerate(starts):
        axes.annotate(f"{start['first']:.1f} s, {start['end']:.1f} s", (start["end"] + 0.6, place), va="center")
    axes.set(xlabel="seconds from the command `spl fit`, two cores", xlim=(0, 64))
    axes.legend(loc="lower right")


def draw_columns(figure: Figure) -> None:
    """Draw what screening says of 100 columns, and what the three of a law bring to it."""
    figure.set_size_inches(9, 3)
    rng = np.random.default_rng(0)
    table = rng.uniform(0.5, 3, (400, 100))
    data = Dataset.from_arrays(table, 2 * table[:, 12] * table[:, 77] / table[:, 40] + 0.05 * rng.normal(size=400))
    scores = screen_columns(data).scores
    left, right = figure.subplots(1, 2, width_ratios=(3, 1))
    is_relevant = np.isin(np.arange(100), (12, 40, 77))
    left.bar(np.arange(100)[~is_relevant], scores[~is_relevant], color=GREY)
    left.bar(np.arange(100)[is_relevant], scores[is_relevant], color=FOUND_COLOUR)
    left.axhline(1.0, color=MEASURED_COLOUR, linewidth=1)
    left.annotate("chance", (99.5, 1.15), ha="right", color=MEASURED_COLOUR)
    left.set(xlabel="column", ylabel="explained, over chance", yscale="log")
    program = parse_expression("2*x12*x77/x40", Vocabulary(data.names))
    shares = measure_relevance(program, data)
    right.barh(["x40", "x77", "x12"], shares[[40, 77, 12]], color=FOUND_COLOUR)
    right.set(xlabel="relevance_")


def draw_groups(figure: Figure) -> None:
    """Draw the same law in five groups, with the numbers of each, and one curve through all rows."""
    figure.set_size_inches(8.6, 3.2)
    rng = np.random.default_rng(1)
    time = np.linspace(0.2, 8.0, 24)
    heights = {"A": 1.1, "B": 1.7, "C": 2.2, "D": 2.9, "E": 3.6}
    own, shared = figure.subplots(1, 2, sharey=True)
    for at, (name, height) in enumerate(heights.items()):
        measured = height * np.exp(-0.4 * time) + 0.05 * rng.standard_normal(time.size)
        colour = f"C{at}"
        for axes in (own, shared):
            axes.plot(time, measured, ".", ms=4, color=colour)
        own.plot(time, height * np.exp(-0.4 * time), lw=1.5, color=colour, label=f"{name}: k1 = {height}")
    mean = np.mean(list(heights.values()))
    shared.plot(time, mean * np.exp(-0.4 * time), lw=2, color=GREY, label="one curve for all rows")
    own.set(xlabel="hours", ylabel="level", title="k1*exp(-0.4*hours)")
    shared.set(xlabel="hours", title=f"{mean:.1f}*exp(-0.4*hours)")
    own.legend()
    shared.legend()


def main() -> None:
    """Draw all figures."""
    figures: dict[str, Callable[[Figure], None]] = {
        "search-episode": draw_episode,
        "search-growth": draw_growth,
        "reward": draw_reward,
        "choice": draw_choice,
        "constants": draw_constants,
        "weak-form": draw_weak,
        "coarse-samples": draw_coarse,
        "experiments": draw_experiments,
        "strong-noise": draw_strong_noise,
        "noise": draw_noise,
        "outliers": draw_outliers,
        "shapes": draw_shapes,
        "counts": draw_counts,
        "start": draw_start,
        "columns": draw_columns,
        "implicit": draw_implicit,
        "trust": draw_trust,
        "one-trajectory": draw_one_trajectory,
        "validation": draw_validation,
        "measure-next": draw_next,
        "groups": draw_groups,
        "known-parts": draw_known_parts,
        "units": draw_units,
    }
    for name, draw in figures.items():
        with rc_context(LOOK):
            figure = Figure(layout="constrained")
            draw(figure)
            figure.savefig(IMAGES / f"{name}.svg", metadata={"Date": None})
    (IMAGES / "how-sure.svg").write_text(write_how_sure_charts(), encoding="utf-8")


if __name__ == "__main__":
    main()
