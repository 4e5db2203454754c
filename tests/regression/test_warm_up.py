from spl.regression.warm_up import compile_once, warm_up


def test_compilation_is_announced_when_it_is_due(monkeypatch):
    monkeypatch.setattr("spl.kernels.runtime.compiler.kernels_are_compiled", lambda: False)
    messages = []
    compile_once(messages.append)
    assert len(messages) == 1
    assert messages[0].startswith("Compiling the kernels (once per installation")


def test_nothing_is_said_when_the_kernels_are_on_disk():
    warm_up()
    messages = []
    compile_once(messages.append)
    assert messages == []
