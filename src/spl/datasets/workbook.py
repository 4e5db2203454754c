"""The tables of an Excel workbook, read with only the standard library: numbers and text, one table per sheet.

A workbook is a zip archive of XML files (ECMA-376). Formulas, dates and styles are ignored.
"""

import io
import re
import zipfile
from xml.etree import ElementTree

from spl.errors import DataError

_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_LINK = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"

Cell = float | str
Row = dict[str, Cell]  # by the letters of the column: A, B, ...


def read_workbook(raw: bytes, source: str) -> dict[str, list[Row]]:
    """Return the rows of each sheet by its name; a row maps the letters of columns to cells.

    Examples:
        >>> read_workbook(b"a,b", "table.xls")
        Traceback (most recent call last):
        ...
        spl.errors.DataError: table.xls is not an Excel 2007+ workbook: File is not a zip file.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            texts = _read_shared_texts(archive)
            return {name: _read_sheet(archive, path, texts) for name, path in _find_sheets(archive).items()}
    except (zipfile.BadZipFile, KeyError, ElementTree.ParseError) as error:
        raise DataError(f"{source} is not an Excel 2007+ workbook: {error}.") from None


def _find_sheets(archive: zipfile.ZipFile) -> dict[str, str]:
    """Return the path of each sheet in the archive."""
    links = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
    targets = {link.attrib["Id"]: link.attrib["Target"] for link in links}
    book = ElementTree.fromstring(archive.read("xl/workbook.xml"))
    return {sheet.attrib["name"]: f"xl/{targets[sheet.attrib[_LINK]]}" for sheet in book.iter(f"{_MAIN}sheet")}


def _read_shared_texts(archive: zipfile.ZipFile) -> list[str]:
    """Return the texts that cells refer to by number."""
    if "xl/sharedStrings.xml" not in archive.namelist():
        return []
    entries = ElementTree.fromstring(archive.read("xl/sharedStrings.xml")).iter(f"{_MAIN}si")
    return ["".join(part.text or "" for part in entry.iter(f"{_MAIN}t")) for entry in entries]


def _read_sheet(archive: zipfile.ZipFile, path: str, texts: list[str]) -> list[Row]:
    rows = []
    for element in ElementTree.fromstring(archive.read(path)).iter(f"{_MAIN}row"):
        row: Row = {}
        for cell in element.iter(f"{_MAIN}c"):
            value = cell.findtext(f"{_MAIN}v")
            if value is not None:
                column = re.sub(r"\d", "", cell.attrib["r"])
                row[column] = texts[int(value)] if cell.get("t") == "s" else float(value)
        rows.append(row)
    return rows
