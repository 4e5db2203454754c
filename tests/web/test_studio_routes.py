"""Routes of the studio, and the answers to wrong requests."""

import gzip

import pytest
from tests.web.conftest import MAX_MEGABYTES

from spl.formulas.operators import BUILT_IN, SPELLINGS

TABLE = b"t,x,y\n0,1,2\n1,2,4\n2,3,6\n"


def test_the_page_and_its_parts_are_served(studio):
    assert "spl studio" in studio.get("/").text
    for name in ("style.css", "studio.js", "run.js", "dom.js", "columns.js", "rules.js", "icon.svg"):
        assert studio.get(f"/static/{name}").status_code == 200, name


def test_the_page_offers_every_operator_once(studio):
    groups = studio.get("/api/studio").json()["operators"].values()
    offered = [SPELLINGS.get(name, name) for names in groups for name in names]
    assert sorted(offered) == sorted(BUILT_IN)


# ---- data ----------------------------------------------------------------------------------------


def test_a_table_is_taken_kept_and_described(studio, folder):
    answer = studio.put("/api/data/my data.csv", content=TABLE)
    assert answer.status_code == 200
    assert [column["name"] for column in answer.json()["columns"]] == ["t", "x", "y"]
    assert (folder.path / "my data.csv").read_bytes() == TABLE
    assert studio.get("/api/data/my data.csv").json() == answer.json()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", "'a.csv' is empty."),
        ("a.csv", b"\x89PNG\r\n\x1a\n\0\0\0", "is not text"),
        ("a.csv", b"x,y\n", "no rows"),
        ("a.csv", b"x,x\n1,2\n", "two columns named 'x'"),
        ("a.csv", b"x,y\n1,2,3\n", "3 values in line 2"),
        ("a.xls", b"PK", "ends in '.xls'"),
        ("a.parquet", b"PAR0", "cannot be read as Parquet"),
        ("a.csv.gz", b"\x1f\x8b broken", "cannot be unzipped"),
    ],
)
def test_a_file_that_is_no_table_is_refused_and_leaves_nothing(studio, folder, name, content, message):
    answer = studio.put(f"/api/data/{name}", content=content)
    assert answer.status_code == 422
    assert message in answer.json()["error"]
    assert str(folder.path) not in answer.json()["error"]
    assert list(folder.path.iterdir()) == []


def stream(size):
    async def pieces():
        for _ in range(size // 1000):
            yield b"1,2\n" * 250

    return pieces()


@pytest.mark.parametrize("content", [b"1,2\n" * 20_000, stream(80_000)], ids=["promised", "streamed"])
def test_a_file_that_is_too_large_is_refused_with_the_limit(studio, folder, content):
    answer = studio.put("/api/data/big.csv", content=content)
    assert answer.status_code == 413
    assert f"'big.csv' is larger than the limit of {MAX_MEGABYTES} MB" in answer.json()["error"]
    assert "--max-megabytes" in answer.json()["error"]
    assert list(folder.path.iterdir()) == []


def test_a_small_file_that_unzips_to_a_huge_one_is_refused(studio, folder):
    answer = studio.put("/api/data/bomb.csv.gz", content=gzip.compress(b"1,2\n" * 1_000_000))
    assert answer.status_code == 413
    assert list(folder.path.iterdir()) == []


@pytest.mark.parametrize("name", ["..%2F..%2Fevil.csv", "%2Fetc%2Fevil.csv", "..%5Cevil.csv", "%2e%2e%2fevil.csv"])
def test_names_never_lead_out_of_the_folder(studio, folder, name):
    studio.put(f"/api/data/{name}", content=TABLE)
    assert not list(folder.path.parent.glob("*.csv"))
    assert {path.name for path in folder.path.iterdir()} <= {"evil.csv"}


@pytest.mark.parametrize(
    "name", ["..%2Fsecret.csv", "%2Fetc%2Fpasswd", "nothing.csv", "%2e%2e%2fsecret.csv", "static%2F..%2F..%2Fapps.py"]
)
def test_files_elsewhere_cannot_be_read(studio, folder, name):
    (folder.path.parent / "secret.csv").write_bytes(TABLE)
    for path in (f"/api/data/{name}", f"/api/runs/{name}/report", f"/api/runs/{name}/events", f"/static/{name}"):
        answer = studio.get(path)
        assert answer.status_code in (404, 405, 422), path
        assert "t,x,y" not in answer.text


# ---- rules and searches --------------------------------------------------------------------------


def test_rules_are_checked_with_the_place_of_the_mistake(studio):
    answer = studio.post("/api/rules", json={"rules": "f -> x | sine(x)", "columns": ["x"]}).json()
    assert (answer["line"], answer["column"]) == (1, 10)


def test_rules_may_use_velocities_and_inputs(studio):
    given = {"rules": "f -> C*x | C*dx | C*u", "columns": ["x"], "inputs": ["u"], "order": 2}
    assert studio.post("/api/rules", json=given).json()["is_right"]


def test_operators_are_written_as_rules(studio):
    answer = studio.post("/api/rules/of-operators", json={"operators": ["+", "sin"], "columns": ["x", "a b"]})
    assert answer.json() == {"rules": "f -> f + f | sin(f) | C*f | x | 'a b' | C"}


def test_units_are_checked_with_the_columns(studio):
    units = {"columns": {"x": "m"}, "target": "m/s"}
    given = {"units": units, "kind": "law", "columns": ["x"], "target": "y", "known": "t = 2 s"}
    assert studio.post("/api/units", json=given).json() == {"is_right": True, "explanation": "Only formulas in m/s."}
    answer = studio.post("/api/units", json=given | {"known": "\nt = 2 parsnip"}).json()
    assert (answer["is_right"], answer["line"], answer["of"]) == (False, 2, None)
    assert studio.post("/api/units", json={"columns": ["x"], "units": None}).json()["is_right"]
    system = {
        "kind": "dynamics",
        "columns": ["x"],
        "time": "t",
        "units": {"columns": {"x": "m"}, "time": "s"},
        "order": 2,
    }
    assert studio.post("/api/units", json=system | {"known": "g = 9.8 N/kg"}).json()["is_right"]


@pytest.mark.parametrize("body", [b"", b"{", b"[" * 100_000, b"[]", b'{"rules": 3}', b'{"columns": "x"}', b"\xff"])
@pytest.mark.parametrize("path", ["/api/rules", "/api/searches", "/api/rules/of-operators"])
def test_a_body_that_makes_no_sense_is_a_mistake_of_the_sender(studio, path, body):
    answer = studio.post(path, content=body)
    assert answer.status_code in (200, 422)
    assert answer.json().get("error") or answer.json().get("is_right") is False


def test_a_body_that_is_too_long_is_refused(studio):
    answer = studio.post("/api/rules", content=b'{"rules": "' + b"x" * 5_000_000 + b'"}')
    assert answer.status_code == 413


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"data": "nothing.csv"}, "There is no data file 'nothing.csv'"),
        ({"data": "../secret.csv"}, "There is no data file"),
        ({"target": "z"}, "There is no column 'z'"),
        ({"rules": "f -> sine(x)"}, "Did you mean 'sin'"),
        ({"sigma_x": {"x": "dx"}}, "There is no column 'dx'"),
        ({"sigma_x": {"x": "-0.1"}}, "The error bars of column 'x' must be 0 or more; line 2 has -0.1"),
    ],
)
def test_a_search_that_would_fail_is_not_started(studio, folder, change, message):
    studio.put("/api/data/d.csv", content=TABLE)
    given = {"kind": "law", "data": "d.csv", "target": "y", "features": ["x"], "operators": ["+"]} | change
    answer = studio.post("/api/searches", json=given)
    assert answer.status_code == 422
    assert message in answer.json()["error"]
    assert studio.get("/api/runs").json() == {"runs": []}


def test_what_leads_nowhere_is_told_as_json(studio):
    assert studio.get("/api/nothing").status_code == 404
    assert "does not exist" in studio.get("/api/nothing").json()["error"]
    assert studio.get("/api/searches").status_code == 405
