"""Linear algebra has one thread while searches run, and as many as before once the last one has ended."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from spl.data.dataset import Dataset
from spl.formulas.grammar import Grammar
from spl.regression.blas_threads import one_blas_thread
from spl.regression.discover import discover
from spl.regression.request import RegressionRequest
from spl.settings import Limits


def count_threads():
    """Return the numbers of threads of the libraries of linear algebra."""
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.fixture
def two_threads():
    with threadpool_limits(2, "blas"):
        yield


def test_a_search_uses_one_thread_and_leaves_no_trace(two_threads):
    x = np.linspace(1, 2, 20)
    data = Dataset.from_arrays(x[:, np.newaxis], x**2, names=["x"])
    seen = []
    request = RegressionRequest(data, Grammar.from_text("f -> f * f | x"), limits=Limits(max_evaluations=10))
    discover(request, watch=lambda progress: seen.append(count_threads()))
    assert seen
    assert all(threads == {1} for threads in seen)
    assert count_threads() == {2}


def test_the_limit_is_lifted_after_the_last_of_searches_that_overlap(two_threads):
    first, second = one_blas_thread(), one_blas_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert count_threads() == {1}
    second.__exit__(None, None, None)
    assert count_threads() == {2}


def test_an_error_lifts_the_limit(two_threads):
    with pytest.raises(ValueError, match="why"), one_blas_thread():
        raise ValueError("why")
    assert count_threads() == {2}
