"""The models of examples/fit, fitted to their data from Python and from the command line: the same optimum and the same standard errors."""
import dataclasses
import importlib.util
import json
import os
import subprocess

import numpy
import pytest

COTAN = os.environ.get("COTAN", "")
STARTS = {"irises": "[0, 0, 0]", "sunspots": "@guess.json", "schools": '{"mean": 0, "logSpread": 1}'}


@pytest.fixture(scope="module")
def examples(root):
    for library in ("scipy", "pandas"):
        pytest.importorskip(library)
    spec = importlib.util.spec_from_file_location("fit", root / "examples" / "fit" / "fit.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def numbers(parameters):
    if dataclasses.is_dataclass(parameters):
        parameters = dataclasses.asdict(parameters)
    return numpy.array(list(parameters.values()) if isinstance(parameters, dict) else parameters)


@pytest.mark.skipif(not os.access(COTAN, os.X_OK), reason="the command is not built: set COTAN")
@pytest.mark.parametrize("name", STARTS)
def test_both_doors_give_the_same_fit(examples, root, name):
    command = [COTAN, "fit", f"{name}.cot", "loss", "--start", STARTS[name], "--data", f"@{name}.csv", "--errors", "--json"]
    done = subprocess.run(command, cwd=root / "examples" / "fit", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    by_command = json.loads(done.stdout)
    parameters, value, errors = getattr(examples, name)()
    assert value == pytest.approx(by_command["value"], rel=1e-9)
    assert numpy.allclose(numbers(parameters), numbers(by_command["parameters"]), rtol=1e-4)
    assert numpy.allclose(numbers(errors), numbers(by_command["errors"]), rtol=1e-4)
