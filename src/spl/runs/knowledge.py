"""What is known of a law, in a run file: the statements as they were written, and the bounds of columns."""

from collections.abc import Mapping, Sequence
from typing import Any

from spl.checked_values import Damage, as_fields, as_finite, as_list, as_texts
from spl.errors import KnowledgeError
from spl.knowledge.knowledge import Knowledge


def encode_knowledge(knowledge: Knowledge | None) -> dict[str, Any]:
    """Return knowledge as settings of a run, values that JSON can hold; nothing if there is none.

    Examples:
        >>> encode_knowledge(Knowledge.read(["f > 0"], ["x"], bounds={"x": (0, 1)}))
        {'knowledge': ['f > 0'], 'bounds': {'x': [0.0, 1.0]}}
    """
    if knowledge is None:
        return {}
    bounds = {name: [low, high] for name, (low, high) in knowledge.bounds.items()}
    return {"knowledge": list(knowledge.texts), "bounds": bounds}


def decode_knowledge(settings: Mapping[str, Any], columns: Sequence[str], target: str) -> Knowledge | None:
    """Return the knowledge in the settings of a run; None if there is none, as in older runs. Raises `Damage` if it cannot be read."""
    texts = as_texts(settings.get("knowledge", []))
    bounds = {
        name: tuple(map(as_finite, as_list(ends))) for name, ends in as_fields(settings.get("bounds", {})).items()
    }
    try:
        return Knowledge.read(texts, columns, target, bounds) if texts else None
    except KnowledgeError as error:
        raise Damage(f"a statement about the law cannot be read ({error})") from None
