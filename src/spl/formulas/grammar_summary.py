"""A grammar in a few lines, for people: its symbols and words, its shortest formula, and how many formulas it has."""

from spl.formulas.grammar import Grammar, Rule
from spl.formulas.program import Vocabulary
from spl.formulas.text import make_token, write_tokens
from spl.kernels.programs import tokens as tk

COUNTED_RULES = 10  # formulas are counted up to this number of rules
MAX_WRITTEN_RULES = 200  # a shortest formula of more rules is not written out


def summarize_grammar(grammar: Grammar) -> str:
    """Return the lines of `Grammar.explain`.

    Examples:
        >>> print(summarize_grammar(Grammar.from_text("f -> f + f | C*f | x")))
        symbols    f (3 rules)
        variables  x
        operators  +, *
        constants  fitted
        shortest   x
        formulas   1,374 of at most 10 rules
    """
    words = grammar.vocabulary
    used = {token for rule in grammar.rules for token in rule.tokens}
    names = [name for i, name in enumerate(words.variables) if make_token(tk.VARIABLE, i) in used]
    operators = sorted(token for token in used if token >> tk.KIND_SHIFT in (tk.OPERATOR, tk.POWER))
    n_rules = [sum(rule.symbol == number for rule in grammar.rules) for number in range(len(grammar.symbols))]
    symbols = (f"{name} ({n} rule{'s' * (n > 1)})" for name, n in zip(grammar.symbols, n_rules, strict=True))
    lines = [
        "symbols    " + ", ".join(symbols),
        "variables  " + (", ".join(names) or "none"),
        "operators  " + (", ".join(_name_operator(token, words) for token in operators) or "none"),
        "constants  " + ("fitted" if grammar.has_constants else "none"),
        "shortest   " + _write_shortest(grammar),
        f"formulas   {_write_count(_count_derivations(grammar, COUNTED_RULES))} of at most {COUNTED_RULES} rules",
    ]
    return "\n".join(lines)


def _name_operator(token: int, vocabulary: Vocabulary) -> str:
    if token >> tk.KIND_SHIFT == tk.POWER:
        return f"**{(token & tk.PAYLOAD_MASK) - tk.POWER_OFFSET}"
    operator = vocabulary.operator_of(token)
    return operator.infix or operator.name


def _write_shortest(grammar: Grammar) -> str:
    """Return the text of a formula with the fewest rules."""
    if grammar.shortest[0] > MAX_WRITTEN_RULES:
        return f"a formula of {grammar.shortest[0]} rules"

    def n_rules(rule: Rule) -> int:
        return 1 + sum(grammar.shortest[symbol] for symbol in rule.symbols_used())

    best: dict[int, Rule] = {}
    for rule in grammar.rules:
        if n_rules(rule) == grammar.shortest[rule.symbol]:
            best.setdefault(rule.symbol, rule)
    todo, tokens = [make_token(tk.SYMBOL, 0)], []
    while todo:
        token = todo.pop()
        if token >> tk.KIND_SHIFT == tk.SYMBOL:
            todo.extend(reversed(best[token & tk.PAYLOAD_MASK].tokens))
        else:
            tokens.append(token)
    return write_tokens(tokens, grammar.vocabulary)


def _count_derivations(grammar: Grammar, max_rules: int) -> int:
    """Return how many derivations from the start symbol have at most `max_rules` rules."""
    counts = [[0] * (max_rules + 1) for _ in grammar.symbols]  # by symbol and exact number of rules
    templates = [(rule.symbol, tuple(rule.symbols_used())) for rule in grammar.rules]
    for total in range(1, max_rules + 1):
        for symbol, needs in templates:
            counts[symbol][total] += _count_splits([counts[need] for need in needs], total - 1)
    return sum(counts[0])


def _count_splits(counts: list[list[int]], total: int) -> int:
    """Return in how many ways the parts can have that many rules together."""
    ways = [1] + [0] * total
    for part in counts:
        ways = [sum(ways[rest] * part[n - rest] for rest in range(n + 1)) for n in range(total + 1)]
    return ways[total]


def _write_count(count: int) -> str:
    return f"{count:,}" if count < 1_000_000 else f"about 10^{len(str(count)) - 1}"
