"""One law for all drops, each drop a group."""

import numpy as np
import pytest
from tests.bench.experiments import balls_trial

from spl.bench import balls
from spl.bench.balls import BALLS
from spl.datasets import BallDrop, Drop

T = np.linspace(0, 3, 46)


@pytest.mark.search
def test_one_law_for_groups_predicts_balls_of_different_weight(monkeypatch):
    fall = [48 - weight * T**2 for weight in (4.3, 4.6, 4.9)]
    data = BallDrop(
        tuple(
            Drop(ball, 1, T, height) for ball, height in zip(("Golf Ball", "Baseball", "Volleyball"), fall, strict=True)
        )
    )
    monkeypatch.setattr(balls, "_fetch_once", lambda: data)
    balls._search_together_once.cache_clear()
    outcome = BALLS.run(balls_trial("groups: drop 1"))
    balls._search_together_once.cache_clear()
    assert outcome.recovered
    assert outcome.error < 1e-6
    assert outcome.formula.endswith("with k1 = -4.3") or outcome.formula.endswith("with k1 = 4.3")
