"""The picture in ARCHITECTURE.md holds: imports point down, stages are strangers, heavy packages stay in place."""

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import spl

ROOT = Path(__file__).parent.parent
SOURCE = Path(next(iter(spl.__path__)))
DOOR = "__init__"  # spl/__init__.py: the public names, above everything
LAYERS_FROM_TOP = ("edge", "pipeline", "stages", "nouns", "ground")
MAY_IMPORT_SYMPY = {
    "to_sympy",
    "from_sympy",
    "simplify",
    "rewrite",
    "own_operators",
    "operators",
    "estimator",
    "dynamics",
}  # the last two only to name its type
SLOW_TO_IMPORT = ("sklearn", "pandas", "sympy", "numba", "matplotlib")


def read_picture() -> dict[str, list[str]]:
    """Return the modules of each layer as the picture of ARCHITECTURE.md names them."""
    rows = [line.split() for line in (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").splitlines()]
    return {
        row[0]: [word for word in row[1:] if word.isidentifier()]
        for row in rows
        if row[:1] and row[0] in LAYERS_FROM_TOP
    }


PICTURE = read_picture()
HEIGHT = {name: -depth for depth, layer in enumerate(LAYERS_FROM_TOP) for name in PICTURE.get(layer, [])} | {DOOR: 1}
FILES = sorted(SOURCE.rglob("*.py"))


def module_of(path: Path) -> str:
    """Return the name in the picture a file belongs to: its own, or its folder's."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


MODULES = {module_of(path) for path in FILES} - {DOOR, "__main__"}


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
    """Return the modules of the project among imports, by their names in the picture."""
    parts = [name.split(".") for name in imports if name.split(".")[0] == "spl"]
    return {words[1] if len(words) > 1 and words[1] in MODULES else DOOR for words in parts}


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def arrows() -> Iterator[tuple[str, str]]:
    """Yield every import between two modules of the project."""
    for path in FILES:
        if module_of(path) not in (DOOR, "__main__"):
            yield from (
                (module_of(path), target) for target in own_targets(imports_in(parse(path))) - {module_of(path)}
            )


def test_the_picture_names_every_module_once():
    named = [name for layer in LAYERS_FROM_TOP for name in PICTURE[layer]]
    assert len(named) == len(set(named))
    assert not MODULES - set(named), "files that are not in the picture of ARCHITECTURE.md"
    assert not set(named) - MODULES, "names in the picture of ARCHITECTURE.md without a file"


def test_imports_point_down_or_stay_in_their_layer():
    upwards = [f"{source} -> {target}" for source, target in arrows() if HEIGHT[target] > HEIGHT[source]]
    assert not upwards


def test_no_stage_imports_another():
    stages = set(PICTURE["stages"])
    assert not [f"{source} -> {target}" for source, target in arrows() if source in stages and target in stages]


def test_no_two_modules_need_each_other_to_load():
    graph: dict[str, set[str]] = {name: set() for name in MODULES}
    for path in FILES:
        if module_of(path) in MODULES:
            graph[module_of(path)] |= own_targets(imports_when_loaded(parse(path))) - {module_of(path), DOOR}
    while leaves := {name for name, targets in graph.items() if not targets}:
        graph = {name: targets - leaves for name, targets in graph.items() if name not in leaves}
    assert not graph, f"these need each other: {sorted(graph)}"


def test_kernels_know_nothing_of_the_project_but_its_errors():
    assert {target for source, target in arrows() if source == "kernels"} == {"errors"}


def test_only_kernels_import_numba():
    users = {
        module_of(path) for path in FILES if any(name.split(".")[0] == "numba" for name in imports_in(parse(path)))
    }
    assert users == {"kernels"}


def test_sympy_is_imported_in_its_places_only_and_late():
    trees = {path: parse(path) for path in FILES}
    assert {module_of(path) for path in FILES if names_sympy(imports_in(trees[path]))} == MAY_IMPORT_SYMPY
    assert not [path.name for path in FILES if names_sympy(imports_when_loaded(trees[path]))]


def names_sympy(imports: Iterable[str]) -> bool:
    return any(name.split(".")[0] == "sympy" for name in imports)


@pytest.mark.parametrize("package", SLOW_TO_IMPORT)
def test_importing_spl_leaves_slow_packages_alone(package):
    code = f"import spl, sys; sys.exit({package!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
