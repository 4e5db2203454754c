"""Names with primes: `x'` is the rate of the state `x`, `x''` its acceleration. Formulas write them as they are, without quotes.

Python's parser, which reads formulas, takes a prime for a quote. So primes behind a word are replaced by a letter that nobody uses
before the text is parsed, and put back in names and error messages.
"""

import re
from collections.abc import Collection
from typing import Final

PRIME: Final = "'"
MAX_PRIMES: Final = 2  # of an acceleration
_STAND_IN: Final = "\U00016fe1"  # a letter of the Nushu script, which Python allows within names and does not normalize
_PRIMED: Final = re.compile(
    r"""(?P<quoted>'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")"""
    r"""|(?P<word>(?<!\w)[^\W\d]\w*)(?P<primes>'{1,2})(?=\s*(?:[-+*/(),|#→]|$))"""
)


def hide_primes(text: str) -> str:
    """Return a text in which the primes of words outside quotes are replaced by letters, one for one.

    Examples:
        >>> hide_primes("x' + 'a b'") == show_primes(hide_primes("x' + 'a b'")).replace("x'", hide_primes("x'"))
        True
        >>> hide_primes("x'").isidentifier(), show_primes(hide_primes("x' * 'flow rate'"))
        (True, "x' * 'flow rate'")
    """
    if PRIME not in text:
        return text
    return _PRIMED.sub(_hide, text)


def _hide(match: re.Match[str]) -> str:
    if match["quoted"] is not None:
        return match["quoted"]
    return f"{match['word']}{_STAND_IN * len(match['primes'])}"


def show_primes(text: str) -> str:
    """Return a text with its primes put back."""
    return text.replace(_STAND_IN, PRIME)


def without_primes(name: str) -> str:
    """Return a name without the one or two primes behind it.

    Examples:
        >>> [without_primes(name) for name in ("x", "x'", "x''", "x'''")]
        ['x', 'x', 'x', "x'''"]
    """
    word = name.rstrip(PRIME)
    return word if len(name) - len(word) <= MAX_PRIMES else name


def count_primes(name: str) -> int:
    """Return how many primes a name has behind it, up to two.

    Examples:
        >>> [count_primes(name) for name in ("x", "x'", "x''")]
        [0, 1, 2]
    """
    return len(name) - len(without_primes(name))


def explain_rate(name: str, known: Collection[str]) -> str:
    """Return what an error message says about an unknown name that is the rate of a known one; empty for other names.

    Examples:
        >>> explain_rate("x'", ["x", "y"])
        ' The rates of other states may be used if the search allows it: `implicit=True` or `--implicit`.'
        >>> explain_rate("z'", ["x", "y"])
        ''
    """
    if not count_primes(name) or without_primes(name) not in known:
        return ""
    return " The rates of other states may be used if the search allows it: `implicit=True` or `--implicit`."
