"""Everything the documents show is run: their Python blocks, their `spl` commands and their relative links.

The blocks of one file run in order, in one namespace and one temporary folder. A ```text or ```output block right after
a ```python block is what that block prints; lines below a `$ spl ...` command in a ```console block are what that
command prints. `...` stands for anything. `<!-- skip -->` before a console block leaves it out, and is allowed only
where no `spl` command is shown.
"""

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.search

ROOT = Path(__file__).parent.parent
NAMED = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SKILL.md", "llms.txt")]
DOCUMENTS = [path for path in NAMED if path.exists()] + sorted((ROOT / "docs").rglob("*.md"))
SECONDS_FOR_A_COMMAND = 300

FENCE = re.compile(r"^(?P<indent> *)(?P<fence>```+|~~~+) *(?P<language>[\w-]*)[^\n`]*$")
LINK = re.compile(r"!?\[[^\]]*\]\(\s*<?([^)\s>]+)>?[^)]*\)|<(?:img|a)\b[^>]*?(?:src|href)=\"([^\"]+)\"")

each_document = pytest.mark.parametrize(
    "path", [pytest.param(path, id=path.relative_to(ROOT).as_posix()) for path in DOCUMENTS]
)


@dataclass(frozen=True)
class Block:
    language: str
    text: str
    line: int  # of its first line of text, from 1
    before: str  # the prose between the block before and this one


@dataclass(frozen=True)
class Command:
    words: list[str]
    output: str


def read_blocks(text: str) -> list[Block]:
    """Return the fenced blocks of a document in order."""
    blocks = []
    prose: list[str] = []
    lines = iter(enumerate(text.splitlines(), start=1))
    for number, line in lines:
        opening = FENCE.match(line)
        if opening is None:
            prose.append(line)
            continue
        indent, fence = opening["indent"], opening["fence"]
        inside = []
        for _, inner in lines:
            if inner.strip() == fence:
                break
            inside.append(inner.removeprefix(indent))
        else:
            raise AssertionError(f"the block that opens in line {number} never closes")
        blocks.append(Block(opening["language"], "".join(f"{row}\n" for row in inside), number + 1, "\n".join(prose)))
        prose = []
    return blocks


def read_commands(block: Block) -> list[Command]:
    """Return the commands of a console block, each with the output shown below it."""
    commands: list[Command] = []
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, output = re.sub(r"\\\n(?:> )?", " ", part).partition("\n")
        commands.append(Command(shlex.split(command, comments=True), output))
    return commands


def assert_prints(shown: str, printed: str, where: str) -> None:
    checker = doctest.OutputChecker()
    if not checker.check_output(shown, printed, doctest.ELLIPSIS):
        raise AssertionError(f"{where} shows\n\n{shown}\nbut prints\n\n{printed}")


def run_python(block: Block, shown: str | None, namespace: dict[str, Any], path: Path) -> None:
    printed = io.StringIO()
    code = compile("\n" * (block.line - 1) + block.text, str(path), "exec")
    with contextlib.redirect_stdout(printed):
        exec(code, namespace)
    if shown is not None:
        assert_prints(shown, printed.getvalue(), f"{path.name}, line {block.line},")


def run_console(block: Block, path: Path) -> None:
    where = f"{path.name}, line {block.line},"
    commands = read_commands(block)
    is_skipped = block.before.rstrip().endswith("<!-- skip -->")
    shows_spl = [command for command in commands if command.words[:1] == ["spl"]]
    if is_skipped:
        assert not shows_spl, f"{where} skips an spl command; only commands such as git or make may be skipped"
        return
    assert commands, f"{where} has no command: commands begin with '$ '"
    assert shows_spl == commands, f"{where} shows another command than spl; put <!-- skip --> before the block"
    for command in commands:
        run_spl(command, where)


def run_spl(command: Command, where: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from spl.cli.main import main; main(prog_name='spl')", *command.words[1:]],
        capture_output=True,
        text=True,
        timeout=SECONDS_FOR_A_COMMAND,
        check=False,
        env=os.environ | {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb", "PYTHONIOENCODING": "utf-8"},
    )
    assert done.returncode == 0, f"{where} `{shlex.join(command.words)}` ended with {done.returncode}:\n{done.stderr}"
    if command.output.strip():
        assert_prints(command.output, done.stdout, where)


@each_document
def test_what_a_document_shows_runs_and_prints_what_it_says(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "__document__"}
    blocks = read_blocks(path.read_text(encoding="utf-8"))
    for block, following in zip(blocks, [*blocks[1:], None], strict=False):  # there may be no block at all
        is_output = following and following.language in ("text", "output") and not following.before.strip()
        if block.language == "python":
            run_python(block, following.text if is_output else None, namespace, path)
        elif block.language == "console":
            run_console(block, path)


@each_document
def test_every_relative_link_leads_somewhere(path):
    text = path.read_text(encoding="utf-8")
    for block in read_blocks(text):
        text = text.replace(block.text, "")
    targets = [first or second for first, second in LINK.findall(text)]
    relative = [target.partition("#")[0] for target in targets if not re.match(r"[a-z]+:|#", target)]
    missing = [target for target in relative if not (path.parent / target).exists()]
    assert not missing, f"{path.name} links to what is not there: {missing}"


def test_blocks_are_read_with_their_place_language_and_prose():
    blocks = read_blocks("Hello\n\n```python\nx = 1\n```\n\n  ```text\n  1\n  ```\n")
    assert blocks == [Block("python", "x = 1\n", 4, "Hello\n"), Block("text", "1\n", 8, "")]


def test_a_console_block_is_read_as_commands_with_their_output():
    block = Block("console", "$ spl fit \\\n> a.csv  # why\nbest\n$ spl show\n", 1, "")
    assert read_commands(block) == [Command(["spl", "fit", "a.csv"], "best\n"), Command(["spl", "show"], "")]


def test_a_block_that_prints_something_else_fails(tmp_path):
    block = Block("python", "print(1.25)\n", 1, "")
    run_python(block, "1...5\n", {}, tmp_path)
    with pytest.raises(AssertionError, match=r"shows\n\n2\n\nbut prints\n\n1\.25"):
        run_python(block, "2\n", {}, tmp_path)


def test_only_blocks_without_an_spl_command_can_be_skipped(tmp_path):
    run_console(Block("console", "$ make demo\n", 1, "<!-- skip -->"), tmp_path)
    with pytest.raises(AssertionError, match="skips an spl command"):
        run_console(Block("console", "$ spl demo\n", 1, "<!-- skip -->"), tmp_path)
    with pytest.raises(AssertionError, match="another command than spl"):
        run_console(Block("console", "$ make demo\n", 1, ""), tmp_path)
