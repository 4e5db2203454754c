"""The tests can fail: each checks something, and nothing decides in silence that it does not. Every module has its tests.

What a scan of the code cannot see is up to whoever writes a test: that a loop runs at least once, that a claim is not true of
everything.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
SOURCE = FOLDER.parent / "src" / "spl"
FILES = sorted(FOLDER.rglob("*.py"))
CHECKS = {"raises", "warns", "fail", "expect"}  # of pytest, and playwright's
CATCH_ALL = {"Exception", "BaseException", "AssertionError"}

# Tests without a check of their own, and why.
MAY_CHECK_NOTHING = {
    "test_scikit_learns_check_passes": "the checks are scikit-learn's",
    "test_a_formula_that_was_read_can_be_used": "any error but ours fails it",
}

# Modules without a test file of the same name, each with the file that tests it. The list may only get shorter.
TESTED_ELSEWHERE = {
    "datasets/oscillators.py": "datasets/test_systems.py",
    "report/contents.py": "report/test_from_run.py",
}

Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def functions_of(tree: ast.Module) -> dict[str, Function]:
    """Return all functions and methods of a file by their names."""
    return {node.name: node for node in ast.walk(tree) if isinstance(node, Function)}


def calls_in(node: ast.AST) -> Iterator[str]:
    """Yield the last name of all that is called."""
    for call in ast.walk(node):
        if isinstance(call, ast.Call):
            yield ast.unparse(call.func).rpartition(".")[2]


def is_check(node: ast.AST) -> bool:
    """Return whether a piece of code itself holds a check."""
    has_assert = any(isinstance(part, ast.Assert) for part in ast.walk(node))
    has_exit_status = any(
        isinstance(part, ast.keyword) and ast.unparse(part) == "check=True" for part in ast.walk(node)
    )
    return has_assert or has_exit_status or any(name in CHECKS or name.startswith("assert_") for name in calls_in(node))


def helpers_of(tree: ast.Module) -> dict[str, Function]:
    """Return the functions that a test file can call: its own, and those it imports from other files of the tests."""
    found: dict[str, Function] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tests."):
            path = FOLDER.parent / f"{node.module.replace('.', '/')}.py"
            found |= functions_of(parse(path)) if path.exists() else {}
    return found | functions_of(tree)


def checks(node: ast.AST, helpers: dict[str, Function], seen: frozenset[str] = frozenset()) -> bool:
    """Return whether code checks something, itself or in a function of the tests that it calls."""
    return is_check(node) or any(
        checks(helpers[name], helpers, seen | {name}) for name in set(calls_in(node)) - seen if name in helpers
    )


def unchecked_tests(tree: ast.Module) -> list[str]:
    helpers = helpers_of(tree)
    tests = [function for name, function in functions_of(tree).items() if name.startswith("test_")]
    return [test.name for test in tests if not checks(test, helpers)]


def one_sided_checks(tree: ast.Module) -> list[int]:
    """Return the lines of each `if` of a test that checks something on one side only."""
    return [
        node.lineno
        for name, function in functions_of(tree).items()
        if name.startswith(("test_", "assert_", "check_"))
        for block in blocks_of(function)
        for place, node in enumerate(block)
        if isinstance(node, ast.If) and is_one_sided(node, block[place + 1 :])
    ]


def blocks_of(function: Function) -> Iterator[list[ast.stmt]]:
    """Yield all lists of statements of a function."""
    for node in ast.walk(function):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                yield block


def is_one_sided(node: ast.If, rest: list[ast.stmt]) -> bool:
    ends = isinstance(node.body[-1], ast.Return | ast.Continue)
    other = node.orelse or (rest if ends else [])
    return any(map(is_check, node.body)) != any(map(is_check, other)) and any(map(is_check, node.body + node.orelse))


def swallowed_checks(tree: ast.Module) -> list[int]:
    """Return the lines where a failed check would be caught."""
    caught = (node for node in ast.walk(tree) if isinstance(node, ast.Try) and any(map(is_check, node.body)))
    return [
        handler.lineno
        for node in caught
        for handler in node.handlers
        if handler.type is None or CATCH_ALL & set(ast.unparse(handler.type).strip("()").split(", "))
    ]


def blanket_raises(tree: ast.Module) -> list[int]:
    """Return the lines that expect any exception whatever, among them those of a test that is wrong itself."""
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.raises"
        if not node.args or ast.unparse(node.args[0]) in ("Exception", "BaseException")
    ]


def has_test_file(module: Path) -> bool:
    """Return whether tests/<folder>/test_<module>.py exists for a file below src/spl."""
    return (FOLDER / module.with_name(f"test_{module.name}")).exists()


def test_every_module_has_a_test_file_of_its_name():
    modules = [path.relative_to(SOURCE) for path in SOURCE.rglob("*.py") if not path.name.startswith("__")]
    missing = {module.as_posix() for module in modules if not has_test_file(module)}
    assert not missing - set(TESTED_ELSEWHERE), "write tests/<folder>/test_<module>.py"
    assert not set(TESTED_ELSEWHERE) - missing, "these have a test file or are gone: take them off the list"


def test_files_that_test_other_modules_exist():
    assert not {name for name in TESTED_ELSEWHERE.values() if not (FOLDER / name).exists()}


@pytest.mark.slow
def test_every_test_checks_something():
    found = {name for path in FILES for name in unchecked_tests(parse(path))}
    assert found == set(MAY_CHECK_NOTHING)


@pytest.mark.slow
@pytest.mark.parametrize("rule", [one_sided_checks, swallowed_checks, blanket_raises])
def test_no_check_is_left_out_or_swallowed(rule):
    assert not [f"{path.relative_to(FOLDER)}:{line}" for path in FILES for line in rule(parse(path))]


@pytest.mark.parametrize(
    ("rule", "code"),
    [
        (unchecked_tests, "def test_a():\n    run()"),
        (unchecked_tests, "def test_a():\n    run()\ndef run():\n    run()"),
        (unchecked_tests, "def test_a():\n    subprocess.run(code, check=False)"),
        (one_sided_checks, "def test_a():\n    if found:\n        assert found > 1"),
        (one_sided_checks, "def test_a():\n    for x in found:\n        if x:\n            pass\n        else:\n            assert x"),
        (one_sided_checks, "def assert_a():\n    if found:\n        np.testing.assert_equal(a, b)"),
        (swallowed_checks, "try:\n    assert a\nexcept (ValueError, Exception):\n    pass"),
        (swallowed_checks, "try:\n    assert a\nexcept:\n    pass"),
        (blanket_raises, "with pytest.raises(Exception):\n    run()"),
    ],
)  # fmt: skip
def test_a_test_that_cannot_fail_is_seen(rule, code):
    assert rule(ast.parse(code))


@pytest.mark.parametrize(
    ("rule", "code"),
    [
        (unchecked_tests, "def test_a():\n    run()\ndef run():\n    assert a"),
        (unchecked_tests, "def test_a():\n    subprocess.run(code, check=True)"),
        (unchecked_tests, "def test_a():\n    with pytest.raises(ValueError):\n        run()"),
        (one_sided_checks, "def test_a():\n    if found:\n        assert a\n    else:\n        assert b"),
        (one_sided_checks, "def test_a():\n    if found:\n        assert a\n        return\n    assert b"),
        (one_sided_checks, "def test_a():\n    for x in found:\n        if x:\n            continue\n        assert x"),
        (swallowed_checks, "try:\n    assert a\nexcept ValueError:\n    pass"),
        (blanket_raises, "with pytest.raises(ValueError):\n    run()"),
    ],
)
def test_a_test_that_can_fail_is_left_alone(rule, code):
    assert not rule(ast.parse(code))
