"""The search for garbage is paused, and continues as it was before."""

import gc

import pytest

from spl.garbage_collection import without_garbage_collection


def test_garbage_is_collected_again_after_the_pause():
    with without_garbage_collection():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_garbage_is_collected_again_after_an_error():
    with pytest.raises(ZeroDivisionError), without_garbage_collection():
        raise ZeroDivisionError
    assert gc.isenabled()


def test_whoever_switched_it_off_before_finds_it_switched_off():
    gc.disable()
    try:
        with without_garbage_collection():
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()
