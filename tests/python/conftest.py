"""What the tests of the package share."""
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def root():
    return ROOT


@pytest.fixture(scope="session")
def curve():
    import cotan

    return cotan.load(ROOT / "examples" / "c" / "curve.cot")
