"""Tables of an Excel workbook."""

import io
import zipfile

import pytest

from spl.datasets.workbook import read_workbook
from spl.errors import DataError


def make_workbook() -> bytes:
    main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    links = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    parts = {
        "xl/workbook.xml": f'<workbook {main} xmlns:r="{links}"><sheets><sheet name="One" r:id="a"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": '<Relationships><Relationship Id="a" Target="worksheets/s.xml"/></Relationships>',
        "xl/sharedStrings.xml": f"<sst {main}><si><t>no</t></si><si><r><t>wo</t></r><r><t>rd</t></r></si></sst>",
        "xl/worksheets/s.xml": f'<worksheet {main}><sheetData><row><c r="A1" t="s"><v>1</v></c><c r="B1"/></row>'
        '<row><c r="A2"><v>1.5</v></c><c r="AB2" t="n"><v>-2</v></c></row></sheetData></worksheet>',
    }
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return raw.getvalue()


def test_a_workbook_gives_numbers_and_text_by_column():
    assert read_workbook(make_workbook(), "book.xlsx") == {"One": [{"A": "word"}, {"A": 1.5, "AB": -2.0}]}


def test_a_zip_file_that_is_no_workbook_is_refused():
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive:
        archive.writestr("a", "b")
    with pytest.raises(DataError, match=r"book\.xlsx is not an Excel 2007\+ workbook"):
        read_workbook(raw.getvalue(), "book.xlsx")
