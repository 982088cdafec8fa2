"""The types that `cotan stub` prints, held against a type checker."""
import os
import subprocess
import sys

import pytest

COTAN = os.environ.get("COTAN", "")

USE = """
from typing import TYPE_CHECKING
import cotan
import numpy
if TYPE_CHECKING:
    from curve import Model
model: "Model" = cotan.load("curve.cot")
c = model.Curve(1.0, 0.3, 1.5, 0.9)
value: float = model.loss(c, [0.0, 1.0], numpy.ones(2))
gradient = model.loss.grad(c, [0.0], [1.0], wrt="c")
print(value + c.offset)
"""


@pytest.mark.skipif(not os.access(COTAN, os.X_OK), reason="the command is not built: set COTAN")
def test_stubs_pass_a_type_checker(tmp_path, root):
    pytest.importorskip("mypy")
    source = root / "examples" / "c" / "curve.cot"
    (tmp_path / "curve.pyi").write_text(subprocess.run([COTAN, "stub", source], check=True, capture_output=True, text=True).stdout)

    def errors(text):
        (tmp_path / "use.py").write_text(text)
        done = subprocess.run([sys.executable, "-m", "mypy", "--follow-imports=silent", "use.py", "curve.pyi"], cwd=tmp_path, capture_output=True, text=True)
        return [line for line in done.stdout.splitlines() if ": error:" in line]

    assert errors(USE) == []
    assert any("has incompatible type" in line for line in errors(USE.replace("model.loss(c,", "model.loss(3,")))


@pytest.mark.skipif(not os.access(COTAN, os.X_OK), reason="the command is not built: set COTAN")
def test_stubs_of_every_kind_of_type_are_python(root):
    source = root / "tests" / "golden" / "command" / "stub.cot"
    compile(subprocess.run([COTAN, "stub", source], check=True, capture_output=True, text=True).stdout, "stub.pyi", "exec")
