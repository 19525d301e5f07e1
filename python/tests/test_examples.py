"""The examples in the documentation strings."""

import doctest

import pytest

import timeloom
from timeloom import _account, _bag, _clock, _native, _network, _player, _reader, _recorder, _sync, _table, _trace, _writer


MODULES = [_account, _bag, _clock, _network, _player, _reader, _recorder, _sync, _table, _trace, _writer, timeloom]


@pytest.mark.parametrize("module", MODULES)
def test_examples_of_python(module, bags, tmp_path, domain):
    pytest.importorskip("pyarrow")
    pytest.importorskip("pandas")
    path = bags / "mcap_plain"
    names = {"timeloom": timeloom, "BAG": path, "bag": timeloom.open(path), "OUT": tmp_path / "out", "DOMAIN": domain}
    failed, tried = doctest.testmod(module, extraglobs=names)
    assert failed == 0
    assert tried > 0 or module is timeloom


@pytest.mark.parametrize("name", ["Message", "MessageType"])
def test_examples_of_the_native_module(name):
    text = getattr(_native, name).__doc__
    examples = doctest.DocTestParser().get_doctest(text, {}, name, None, None)
    assert examples.examples
    runner = doctest.DocTestRunner()
    assert runner.run(examples).failed == 0
