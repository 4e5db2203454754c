"""The folder table of ARCHITECTURE.md holds: folders import only from those above them, heavy packages stay in their place."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

import spl

ROOT = Path(__file__).parent.parent
SOURCE = Path(next(iter(spl.__path__)))
MOST_MODULES_AT_TOP = 12
KERNEL_FOLDERS = (
    "kernels.runtime",
    "kernels.programs",
    "kernels.bank",
    "kernels.tree",
)  # each imports from those before it
MAY_IMPORT_SYMPY = {
    "formulas.operators",
    "formulas.user_operators",
    "notation.to_sympy",
    "notation.from_sympy",
    "regression.simplify",
    "regression.rewrite",
    "estimators.fitted_front",  # this and the next two only to name its type
    "estimators.known_parts",
    "estimators.dynamics",
}
SLOW_TO_IMPORT = ("sklearn", "pandas", "sympy", "numba", "matplotlib")


def read_folder_table() -> list[str]:
    """Return the folders of the table in ARCHITECTURE.md, from the first, which imports nothing, to the last."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table = re.search(r"^\| folder \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", text, flags=re.MULTILINE)
    assert table is not None, "ARCHITECTURE.md has no table of folders"
    first_cells = [row.split("|")[1] for row in table[1].splitlines()]
    return [name for cell in first_cells for name in re.findall(r"`(\w+)/`", cell)]


FOLDERS = read_folder_table()
TOP = "the top level"  # errors, settings and what else every folder may import
DOORS = {"__init__", "__main__"}  # they offer what the folders hold
FILES = sorted(SOURCE.rglob("*.py"))


def module_of(path: Path) -> str:
    """Return the dotted name of a file below `spl`, `kernels.tree.search` for example."""
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


MODULES = {module_of(path) for path in FILES} - DOORS


def folder_of(module: str) -> str:
    return module.split(".")[0] if module.split(".")[0] in FOLDERS else TOP


def imports_in(tree: ast.AST) -> Iterator[str]:
    """Yield every imported name, dotted; `from a import b` as `a.b`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are written in full"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def imports_when_loaded(tree: ast.Module) -> Iterator[str]:
    """Yield the imports that run when the module is imported: outside functions and `if TYPE_CHECKING`."""
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from imports_in(node)
        waiting.extend(ast.iter_child_nodes(node))


def own_targets(imports: Iterable[str]) -> set[str]:
    """Return the modules of the project among imports."""
    words = (name.split(".")[1:] for name in imports if name.split(".")[0] == "spl")
    candidates = ([".".join(parts[:n]) for n in range(len(parts), 0, -1)] for parts in words)
    return {next(name for name in prefixes if name in MODULES) for prefixes in candidates if prefixes}


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def trees() -> dict[str, ast.Module]:
    """Return the code of every module."""
    return {module_of(path): parse(path) for path in FILES}


@cache
def arrows() -> list[tuple[str, str]]:
    """Return every pair of a module and another one that it imports."""
    return [(source, target) for source in MODULES for target in own_targets(imports_in(trees()[source])) - {source}]


def test_the_table_names_every_folder_once():
    folders = {path.parent.relative_to(SOURCE).parts[0] for path in FILES if path.parent != SOURCE}
    assert sorted(FOLDERS) == sorted(folders)


def test_the_walks_name_files_that_exist():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = re.findall(rf"`((?:{'|'.join(FOLDERS)})/[\w/*]+)`", text)
    assert len(named) > 20
    assert not [name for name in named if not list(SOURCE.glob(f"{name}.py"))]


def test_few_modules_lie_at_the_top():
    assert len([path for path in FILES if path.parent == SOURCE]) <= MOST_MODULES_AT_TOP


def test_every_folder_says_what_lives_there():
    inner = {path.parent for path in FILES}
    assert not [path.name for path in inner if not ast.get_docstring(parse(path / "__init__.py"))]


def test_folders_import_only_from_those_above_them_in_the_table():
    height = {TOP: -1} | {name: place for place, name in enumerate(FOLDERS)}
    wrong = [f"{a} -> {b}" for a, b in arrows() if height[folder_of(b)] > height[folder_of(a)]]
    assert not sorted(wrong)


def test_folders_of_kernels_import_only_from_those_before_them():
    def place(module):
        return next((k for k, folder in enumerate(KERNEL_FOLDERS) if module.startswith(folder)), None)

    inner = [(a, b) for a, b in arrows() if place(a) is not None and place(b) is not None]
    assert {name for name in MODULES if name.startswith("kernels.") and place(name) is None} == set()
    assert not [f"{a} -> {b}" for a, b in inner if place(b) > place(a)]


def test_no_two_modules_need_each_other_to_load():
    graph = {name: own_targets(imports_when_loaded(trees()[name])) - {name} for name in MODULES}
    while leaves := {name for name, targets in graph.items() if not targets}:
        graph = {name: targets - leaves for name, targets in graph.items() if name not in leaves}
    assert not graph, f"these need each other: {sorted(graph)}"


def test_kernels_know_nothing_of_the_project_but_its_errors():
    assert {b for a, b in arrows() if folder_of(a) == "kernels" and folder_of(b) != "kernels"} == {"errors"}


def test_only_kernels_import_numba():
    users = {folder_of(name) for name in MODULES if any(i.split(".")[0] == "numba" for i in imports_in(trees()[name]))}
    assert users == {"kernels"}


def test_sympy_is_imported_in_its_places_only_and_late():
    assert {name for name in MODULES if names_sympy(imports_in(trees()[name]))} == MAY_IMPORT_SYMPY
    assert not [name for name in MODULES if names_sympy(imports_when_loaded(trees()[name]))]


def names_sympy(imports: Iterable[str]) -> bool:
    return any(name.split(".")[0] == "sympy" for name in imports)


@pytest.mark.parametrize("package", SLOW_TO_IMPORT)
def test_importing_spl_leaves_slow_packages_alone(package):
    assert not is_loaded_by("import spl", package)


def test_importing_the_regressor_leaves_the_kernels_alone():
    assert not is_loaded_by("from spl import SPLRegressor", "numba")


def is_loaded_by(code: str, package: str) -> bool:
    """Return whether a new process that runs the code has loaded a package."""
    lines = f"{code}\nimport sys\nprint({package!r} in sys.modules)"
    run = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True, check=True)
    return run.stdout.strip() == "True"
