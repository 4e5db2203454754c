import pandas as pd
import pytest


@pytest.fixture
def table(tmp_path, monkeypatch, rng):
    """A folder to work in, with a table of y = a*b + a in it."""
    monkeypatch.chdir(tmp_path)
    a, b = rng.uniform(1, 3, (2, 60))
    frame = pd.DataFrame({"a": a, "b": b, "w": 1.0, "name": "p", "y": a * b + a})
    frame.to_csv("data.csv", index=False)
    return frame
