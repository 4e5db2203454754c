import signal
import threading

import pytest

from spl.regression.interruption import Interruption


@pytest.fixture(autouse=True)
def default_handler():
    """Python's own handler of Ctrl-C, whoever runs the tests."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_a_search_that_nobody_interrupts_goes_on():
    interruption = Interruption()
    assert not interruption.check()
    assert not interruption.is_requested


def test_the_wish_of_the_caller_is_asked_for_once_and_stays():
    answers = iter([False, True])
    interruption = Interruption(lambda: next(answers))
    assert [interruption.check() for _ in range(4)] == [False, True, True, True]
    assert interruption.is_requested


def test_a_first_ctrl_c_only_interrupts_and_a_second_raises():
    interruption = Interruption()
    with interruption.catch_ctrl_c():
        signal.raise_signal(signal.SIGINT)
        assert interruption.check()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_after_the_search_ctrl_c_raises_again():
    with Interruption().catch_ctrl_c():
        assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_handler_of_the_caller_stays_in_place():
    seen = []
    signal.signal(signal.SIGINT, lambda *_: seen.append(True))
    interruption = Interruption()
    with interruption.catch_ctrl_c():
        signal.raise_signal(signal.SIGINT)
    assert seen == [True]
    assert not interruption.is_requested


def test_a_search_outside_the_main_thread_leaves_signals_alone():
    handlers = []

    def search():
        with Interruption().catch_ctrl_c():
            handlers.append(signal.getsignal(signal.SIGINT))

    worker = threading.Thread(target=search)
    worker.start()
    worker.join()
    assert handlers == [signal.default_int_handler]
