"""The examples in the documentation strings."""

import doctest

import pytest

import timeloom
from timeloom import _bag, _native, _reader, _writer


@pytest.mark.parametrize("module", [_bag, _reader, _writer, timeloom])
def test_examples_of_python(module, bags, tmp_path):
    pytest.importorskip("pyarrow")
    path = bags / "mcap_plain"
    names = {"timeloom": timeloom, "BAG": path, "bag": timeloom.open(path), "OUT": tmp_path / "out"}
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
