"""Sphinx directives that generate parts of the reference from the code, so that the two cannot disagree.

`{operators}` is the table of operators, `{commands}` the help of all commands.
"""

import click
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from spl.cli.main import main
from spl.formulas.operators import BUILT_IN, SPELLINGS

COLUMNS = 88  # width of the help texts


class MarkdownDirective(SphinxDirective):
    """A directive that inserts the Markdown returned by `write`."""

    def run(self) -> list[nodes.Node]:
        """Return the Markdown as nodes of the page."""
        parent = nodes.Element()
        self.state.nested_parse(StringList(self.write().splitlines(), source="generated"), 0, parent)
        return parent.children

    def write(self) -> str:
        """Return the Markdown."""
        raise NotImplementedError


class Operators(MarkdownDirective):
    """The table of built-in operators, one row each."""

    def write(self) -> str:
        """Return the table."""
        return operator_table()


class Commands(SphinxDirective):
    """The `--help` output of each command of `spl`, one section each."""

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        return [self._section(words) for words in command_names()]

    def _section(self, words: list[str]) -> nodes.section:
        name = " ".join(["spl", *words])
        section = nodes.section(ids=[name.replace(" ", "-")], names=[name])
        text = command_help(words)
        section += [nodes.title(name, name), nodes.literal_block(text, text, language="text")]
        return section


def operator_table() -> str:
    """Return the operators as a Markdown table: name, notation, other spellings, sympy form, cost."""
    rows = ["| name | written | also | in sympy | cost |", "|---|---|---|---|---|"]
    for operator in BUILT_IN.values():
        letters = "ab"[: operator.arity]
        written = f" {operator.infix} ".join(letters) if operator.infix else f"{operator.name}({', '.join(letters)})"
        spellings = [sign for sign, name in SPELLINGS.items() if name == operator.name and sign != operator.infix]
        also = ", ".join(f"`{sign}`" for sign in spellings)
        rows.append(f"| `{operator.name}` | `{written}` | {also} | `{_sympy_form(operator.name)}` | {operator.cost} |")
    return "\n".join(rows)


def command_names() -> list[list[str]]:
    """Return the words after `spl` of each command and subcommand; the first entry, without words, is `spl` itself."""
    names: list[list[str]] = [[]]
    for name, command in sorted(main.commands.items()):
        names.append([name])
        names += [[name, inner] for inner in sorted(getattr(command, "commands", {}))]
    return names


def command_help(words: list[str]) -> str:
    """Return what `spl WORDS --help` prints."""
    command: click.Command = main
    context = click.Context(main, info_name="spl", max_content_width=COLUMNS, terminal_width=COLUMNS)
    for word in words:
        command = command.commands[word]
        context = click.Context(
            command, info_name=word, parent=context, max_content_width=COLUMNS, terminal_width=COLUMNS
        )
    return command.get_help(context)


def _sympy_form(name: str) -> str:
    import sympy

    operator = BUILT_IN[name]
    assert operator.sympy is not None
    return str(operator.sympy(*sympy.symbols("a b", real=True)[: operator.arity]))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directives with Sphinx."""
    app.add_directive("operators", Operators)
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True}
