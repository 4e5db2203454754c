"""Column names as identifiers: any text becomes a unique ASCII word that is not taken."""

import re
import unicodedata
from collections.abc import Iterable, Sequence

MAX_IDENTIFIER_LENGTH = 50  # characters; MATLAB reads 63, and a number may follow


def make_identifiers(names: Sequence[str], taken: Iterable[str] = ()) -> list[str]:
    """Return one identifier per name. Names that already are identifiers stay as they are unless taken.

    Examples:
        >>> make_identifiers(["x", "flow rate [m/s]", "θ₁", "x ", "lambda", "2nd", ""], taken=["lambda"])
        ['x', 'flow_rate_m_s', 'theta1', 'x_2', 'lambda_2', 'c2nd', 'column']
    """
    used = set(taken)
    found: dict[int, str] = {}
    words = [_to_word(name) for name in names]
    needs_change = [word != name or word in used for word, name in zip(words, names, strict=True)]
    for at in sorted(range(len(names)), key=needs_change.__getitem__):
        found[at] = _make_unique(words[at], used)
        used.add(found[at])
    return [found[at] for at in range(len(names))]


def _to_word(name: str) -> str:
    """Return a similar word of ASCII letters, digits and underscores that begins with a letter."""
    letters = "".join(_to_ascii(sign) for sign in unicodedata.normalize("NFKD", name))
    word = re.sub(r"_{2,}", "_", letters).strip("_") if letters != name or not name[:1].isalpha() else name
    if not word:
        return "column"
    return (word if word[0].isalpha() else f"c{word}")[:MAX_IDENTIFIER_LENGTH]


def _to_ascii(sign: str) -> str:
    if sign.isascii():
        return sign if sign.isalnum() or sign == "_" else "_"
    if unicodedata.combining(sign):
        return ""
    words = unicodedata.name(sign, "").split()
    if words[:1] == ["GREEK"] and "LETTER" in words:
        letter = words[words.index("LETTER") + 1].lower()
        return letter.capitalize() if "CAPITAL" in words else letter
    return "_"


def _make_unique(word: str, used: set[str]) -> str:
    number = 1
    unique = word
    while unique in used:
        number += 1
        unique = f"{word}_{number}"
    return unique
