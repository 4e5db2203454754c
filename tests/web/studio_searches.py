"""A search that ends only when it is stopped, shared by the tests of searches and of the list of runs."""

from spl.errors import SplError
from spl.runs.reader import read_run

ENDLESS = {
    "kind": "law",
    "data": "d.csv",
    "target": "y",
    "features": ["x"],
    "operators": ["+", "*", "sin"],
    "timeout": 600,
}


def has_front(folder, name):
    try:
        return len(read_run(folder.run_file(name)).searches[0].front) > 0
    except SplError:
        return False
