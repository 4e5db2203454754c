"""A formula or a grammar of a stranger executes nothing and reads nothing: the interpreter itself is the witness.

Python reports every file that is opened, every module that is imported and every piece of code that is executed to its audit hooks.
"""

import contextlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from tests.fuzz.texts import ATTACKS, NAMES

from spl.errors import SplError
from spl.formulas.grammar import Grammar
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression, to_text
from spl.notation.from_sympy import from_sympy
from spl.notation.latex import to_latex
from spl.notation.to_sympy import to_sympy
from spl.regression.fit import evaluate
from spl.regression.simplify import simplify

pytestmark = pytest.mark.slow

FORBIDDEN = (
    "open",
    "exec",
    "import",
    "os.",
    "subprocess.",
    "socket.",
    "shutil.",
    "ctypes.",
    "pickle.",
    "marshal.",
    "urllib.",
    "sqlite3.",
    "glob.",
)
WORDS = Vocabulary(("x", "y"))
PAYLOADS = [
    "__import__('os').system('touch hacked')",
    "().__class__.__base__.__subclasses__()",
    "open('hacked', 'w')",
    "exec('import os')",
    "eval('__import__(1)')",
    "f\"{open('hacked', 'w')}\"",
    "f'{__import__(\"os\").getcwd()}'",
    "(lambda: open('hacked', 'w'))()",
    "[open('hacked', 'w') for _ in x]",
    "(y := open('hacked', 'w'))",
    "x.__class__.__mro__",
    "x.__init__.__globals__['os']",
    "sin.__globals__",
    "sin(open('hacked', 'w'))",
    "'{0.__class__}'.format(x)",
    "Symbol('x').__class__",
    "sympify('__import__(\"os\")')",
    "parse_expr('open(1)')",
    "Function('f')(x).func",
    "lambdify(x, 'open')",
    "globals()['__builtins__']",
    "getattr(x, '__class__')",
    "breakpoint()",
    "help(x)",
    "print(open('/etc/passwd').read())",
    *ATTACKS,
]

_events: list[str] | None = None  # what happens while somebody watches


def _note(event: str, arguments: tuple[object, ...]) -> None:
    if _events is not None and event.startswith(FORBIDDEN):
        _events.append(f"{event} {arguments}")


sys.addaudithook(_note)  # cannot be taken away again: it sleeps between tests


@contextmanager
def watched() -> Iterator[list[str]]:
    """Collect what the interpreter reports within."""
    global _events
    _events = []
    try:
        yield _events
    finally:
        _events = None


def use_formula(text):
    """Do all with a text that may be done with a formula."""
    with contextlib.suppress(SplError):
        program = parse_expression(text, WORDS)
        evaluate(program, np.ones((2, 3)))
        to_text(program)
        to_latex(program)
        simplify(program)
        from_sympy(to_sympy(program), WORDS)


def use_grammar(text):
    """Do all with a text that may be done with a grammar."""
    with contextlib.suppress(SplError):
        grammar = Grammar.from_text(text)
        grammar.explain()
        str(grammar)
        grammar.derives("x")


@pytest.fixture(scope="module", autouse=True)
def _all_modules_are_loaded():
    """Import what is imported on first use, so that only the stranger's text is left to cause anything."""
    for text in ("sin(x)/y + x**2 - sqrt(x**3)", "'x' * 2", "x**9**9**9"):
        use_formula(text)
        use_grammar(f"f -> f + f | {text}")


def test_the_witness_sees_what_is_executed_and_read(tmp_path):
    with watched() as events:
        eval("1 + 1")
        (tmp_path / "file").write_text("x")
    assert {event.split()[0] for event in events} >= {"exec", "open"}


@pytest.mark.parametrize("payload", PAYLOADS)
@pytest.mark.parametrize("form", ["{}", "x + {}", "sin({})", "'{}'", "x**({})"])
def test_a_formula_executes_and_reads_nothing(payload, form):
    with watched() as events:
        use_formula(form.replace("{}", payload))
    assert events == []


@pytest.mark.parametrize("payload", PAYLOADS)
@pytest.mark.parametrize("form", ["{}", "f -> {}", "f -> f + f | {} | x", "{} -> x", "'{}' -> x", "f -> x  # {}"])
def test_a_grammar_executes_and_reads_nothing(payload, form):
    with watched() as events:
        use_grammar(form.replace("{}", payload))
    assert events == []


@pytest.mark.parametrize("name", [*NAMES, *PAYLOADS])
def test_the_name_of_a_column_executes_and_reads_nothing(name):
    words = Vocabulary((name,))
    with watched() as events:
        program = parse_expression(f"{name!r} * 2", words)
        to_latex(program)
        simplify(program)
        from_sympy(to_sympy(program), words)
    assert events == []


@pytest.mark.parametrize("payload", PAYLOADS)
def test_text_is_no_sympy_expression(payload):
    with watched() as events, pytest.raises(SplError, match="parse_expression"):
        from_sympy(payload, WORDS)
    assert events == []
