"""The tree search in its smallest form: the textbook loop on a grammar of four rules, for reading and drawing.

The compiled search in `src/spl/kernels/tree/search.py` does the same, with masks, modules, completion and constants.
"""

import math
from dataclasses import dataclass, field

import numpy as np

# f -> f + f | f * f | sin(f) | x
RULES = (("+", 2), ("*", 2), ("sin", 1), ("x", 0))
MAX_RULES, ETA, EXPLORE = 7, 0.99, 1 / math.sqrt(2)
X = np.linspace(0.5, 3, 20)
TARGET = X * X + np.sin(X)


@dataclass
class Node:
    """A partly derived formula: the rules taken so far, from the root down, left before right."""

    rules: tuple[int, ...] = ()
    n_visits: int = 0
    best: float = 0.0  # the highest reward of all episodes that passed through this node
    children: dict[int, "Node"] = field(default_factory=dict)


@dataclass(frozen=True)
class Episode:
    """What one episode did, for drawing."""

    path: tuple[Node, ...]  # from the root to the new leaf
    formula: tuple[int, ...]  # the rules of the random completion
    reward: float


def n_open(rules: tuple[int, ...]) -> int:
    """Return how many symbols are still open after these rules."""
    return 1 + sum(RULES[rule][1] - 1 for rule in rules)


def allowed(rules: tuple[int, ...]) -> list[int]:
    """Return the rules that may come next: those after which the formula can still be finished with `MAX_RULES` rules."""
    return [r for r in range(len(RULES)) if len(rules) + 1 + n_open((*rules, r)) <= MAX_RULES]


def run_episode(root: Node, rng: np.random.Generator) -> Episode:
    """Run one episode of the search: select, expand, simulate, back up."""
    path = [root]
    while n_open(path[-1].rules):
        node = path[-1]
        unvisited = [rule for rule in allowed(node.rules) if rule not in node.children]
        if unvisited:  # expansion: a random child that was never visited
            rule = int(rng.choice(unvisited))
            node.children[rule] = Node((*node.rules, rule))
            path.append(node.children[rule])
            break
        path.append(max(node.children.values(), key=lambda child: bound(node, child)))  # selection
    formula = complete(path[-1].rules, rng)  # simulation
    reward = score(formula)
    for node in path:  # backpropagation
        node.n_visits += 1
        node.best = max(node.best, reward)
    return Episode(tuple(path), formula, reward)


def bound(node: Node, child: Node) -> float:
    """Return the upper confidence bound of a child: how good it was, and how little is known about it."""
    return child.best + EXPLORE * math.sqrt(math.log(node.n_visits) / child.n_visits)


def complete(rules: tuple[int, ...], rng: np.random.Generator) -> tuple[int, ...]:
    """Return the rules with random ones added until no symbol is open."""
    while n_open(rules):
        rules = (*rules, int(rng.choice(allowed(rules))))
    return rules


def score(rules: tuple[int, ...]) -> float:
    """Return the reward of a finished formula."""
    values, _ = _evaluate(rules)
    return float(ETA ** len(rules) / (1 + np.sqrt(np.mean((values - TARGET) ** 2))))


def _evaluate(rules: tuple[int, ...]) -> tuple[np.ndarray, tuple[int, ...]]:
    name, rest = RULES[rules[0]][0], rules[1:]
    if name == "x":
        return X, rest
    left, rest = _evaluate(rest)
    if name == "sin":
        return np.sin(left), rest
    right, rest = _evaluate(rest)
    return (left + right if name == "+" else left * right), rest


def write(rules: tuple[int, ...], hole: str = "f") -> str:
    """Return a formula as text, with its open symbols.

    Examples:
        >>> write((0, 3))
        'x + f'
    """
    return _write(rules, hole)[0]


def _write(rules: tuple[int, ...], hole: str) -> tuple[str, tuple[int, ...]]:
    if not rules:
        return hole, ()
    name, rest = RULES[rules[0]][0], rules[1:]
    if name == "x":
        return "x", rest
    left, rest = _write(rest, hole)
    if name == "sin":
        return f"sin({left})", rest
    right, rest = _write(rest, hole)
    if name == "*":
        left, right = (f"({part})" if " + " in part else part for part in (left, right))
        return f"{left}·{right}", rest
    return f"{left} + {right}", rest
