"""`SPLRegressor.stability`."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from spl import SPLRegressor
from spl.errors import SearchInterrupted, SettingError
from spl.regression import stability

pytestmark = pytest.mark.search

RANDOM = np.random.default_rng(0)
X = RANDOM.uniform(1.0, 5.0, (40, 2))
Y = 2.3 * X[:, 0] + 0.1 * RANDOM.standard_normal(40)
FEW = {"grammar": "f -> C | C*x0 | C*x0 + C | C*x0 + C*x1", "max_evaluations": 60, "timeout": None, "random_state": 0}


@pytest.fixture(scope="module")
def model():
    return SPLRegressor(**FEW).fit(X, Y)


def test_a_law_comes_back(model):
    found = model.stability(n=3, max_evaluations=50)
    assert found.structure == 1.0
    assert found.columns.share.tolist() == [1.0, 0.0]
    assert str(found).startswith("Of 3 searches of redrawn targets, 3 found the formula again.")


def test_it_repeats_and_does_not_depend_on_jobs(model):
    first = model.stability(n=2, max_evaluations=50)
    model.set_params(n_jobs=2)
    try:
        assert model.stability(n=2, max_evaluations=50) == first
    finally:
        model.set_params(n_jobs=None)


def test_another_equation_can_be_asked_for(model):
    found = model.stability(n=2, max_evaluations=50, index=len(model.equations_) - 1)
    assert found.terms.is_chosen.sum() == 2


def test_progress_is_shown_if_verbose(model, capsys):
    model.set_params(verbose=1)
    try:
        model.stability(n=2, max_evaluations=50)
    finally:
        model.set_params(verbose=0)
    assert "2 of 2 searches done" in capsys.readouterr().out


def test_ctrl_c_returns_what_is_done_with_a_warning(model, monkeypatch):
    def interrupted(plan, n, *, n_jobs, watch):
        return stability.count_returns(plan.program, [plan.program], plan.request.data, n)

    monkeypatch.setattr(stability, "measure_stability", interrupted)
    with pytest.warns(SearchInterrupted, match="1 of 5 searches are done"):
        assert model.stability(n=5).n_done == 1


def test_a_model_from_a_run_file_has_all_it_needs(tmp_path):
    path = tmp_path / "run.spl"
    SPLRegressor(**FEW, run_file=path).fit(X, Y)
    assert SPLRegressor.from_run(path).stability(n=1, max_evaluations=50).n_done == 1


def test_mistakes_have_clear_errors(model):
    with pytest.raises(NotFittedError):
        SPLRegressor().stability()
    with pytest.raises(SettingError, match="`n` must be 1 or more; got 0"):
        model.stability(n=0)
    with pytest.raises(SettingError, match="`max_evaluations` must be a whole number"):
        model.stability(max_evaluations=0.5)
    with pytest.raises(SettingError, match="`index` must be a row of equations_"):
        model.stability(index=99)
