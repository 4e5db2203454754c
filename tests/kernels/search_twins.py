"""Derivations from their definition: rules on Python lists, all derivations of a small grammar, losses by numpy."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numba
import numpy as np
from tests.kernels.program_twins import evaluate_slowly

from spl.formulas.grammar import Grammar
from spl.kernels.programs import tokens as tk
from spl.kernels.tree.derivation import Rules
from spl.regression.packing import pack_rules

START = tk.SYMBOL << tk.KIND_SHIFT


def fewer(n_compiled: int, n_interpreted: int) -> int:
    """Return how often to repeat something: compiled kernels are a hundred times as fast as interpreted ones."""
    return n_interpreted if numba.config.DISABLE_JIT else n_compiled


def is_symbol(token: int) -> bool:
    return token >> tk.KIND_SHIFT == tk.SYMBOL


def make_rules(text: str, modules=()) -> tuple[Grammar, Rules]:
    grammar = Grammar.from_text(text)
    return grammar, pack_rules(grammar, modules)


def rules_of(rules: Rules, symbol: int) -> range:
    return range(int(rules.first[symbol]), int(rules.first[symbol + 1]))


def template_of(rules: Rules, rule: int) -> list[int]:
    return [int(token) for token in rules.items[rules.items_first[rule] : rules.items_first[rule + 1]]]


@dataclass
class SlowDerivation:
    """A sentential form: finished tokens, then what is open, the next item first."""

    tokens: list[int] = field(default_factory=list)
    open: list[tuple[int, float]] = field(default_factory=lambda: [(START, np.nan)])
    guesses: list[float] = field(default_factory=list)
    n_rules: int = 0

    @property
    def symbol(self) -> int:
        return self.open[0][0] & tk.PAYLOAD_MASK

    def take(self, rules: Rules, rule: int) -> "SlowDerivation":
        """Return the derivation with the first open symbol replaced."""
        guesses = rules.guesses[rules.items_first[rule] : rules.items_first[rule + 1]]
        form = [*zip(template_of(rules, rule), guesses.tolist(), strict=True), *self.open[1:]]
        n_finished = next((k for k, (token, _) in enumerate(form) if is_symbol(token)), len(form))
        finished = form[:n_finished]
        return SlowDerivation(
            self.tokens + [token for token, _ in finished],
            form[n_finished:],
            self.guesses + [guess for token, guess in finished if token >> tk.KIND_SHIFT == tk.CONSTANT],
            self.n_rules + int(rules.size[rule]),
        )

    def fewest(self, rules: Rules) -> int:
        """Return the fewest rules of a program that this derivation can end in."""
        rest = sum(int(rules.shortest[token & tk.PAYLOAD_MASK]) for token, _ in self.open if is_symbol(token))
        return self.n_rules + rest


def next_derivations(rules: Rules, derivation: SlowDerivation, max_rules: int) -> list[SlowDerivation]:
    """Return what each rule that can still finish in time makes of a derivation."""
    followers = [derivation.take(rules, rule) for rule in rules_of(rules, derivation.symbol)]
    return [follower for follower in followers if follower.fewest(rules) <= max_rules]


def all_derivations(rules: Rules, max_rules: int) -> Iterator[SlowDerivation]:
    """Yield every derivation that can finish within max_rules, the finished ones too, but for the mere start."""
    todo = [SlowDerivation()]
    while todo:
        found = next_derivations(rules, todo.pop(), max_rules)
        yield from found
        todo.extend(derivation for derivation in found if derivation.open)


def finished_derivations(rules: Rules, max_rules: int) -> list[SlowDerivation]:
    return [derivation for derivation in all_derivations(rules, max_rules) if not derivation.open]


def loss_of(tokens: Sequence[int], literals, columns, target, weights=None) -> float:
    """Return the root mean square error of a program without constants."""
    values = evaluate_slowly(tokens, (), literals, columns)
    with np.errstate(all="ignore"):
        loss = float(np.sqrt(np.average((target - values) ** 2, weights=weights)))
    return loss if np.isfinite(loss) else np.inf
