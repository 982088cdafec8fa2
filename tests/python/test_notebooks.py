"""Notebooks: the magic %%cotan and what errors look like; and the notebooks of examples/python, executed."""
import pytest

PROGRAM = "f :: Double -> Double\nf x = x * x\n"


def shell():
    pytest.importorskip("IPython")
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "cotan")
    return shell


@pytest.mark.heavy
def test_the_magic(capsys):
    ipython = shell()
    ipython.run_cell_magic("cotan", "squares --evaluator", PROGRAM)
    assert ipython.user_ns["squares"].f.grad(3.0) == 6
    ipython.run_cell("%%cotan wrong\nf x = lenght x\n")
    shown = capsys.readouterr()
    assert "lenght x" in shown.out + shown.err and "Traceback" not in shown.out + shown.err


@pytest.mark.heavy
@pytest.mark.parametrize("name", ["eight_schools", "gaussian_process"])
def test_examples(root, name, tmp_path):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    for library in ("blackjax", "arviz", "ipykernel"):
        pytest.importorskip(library)
    notebook = nbformat.read(root / "examples" / "python" / f"{name}.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=900, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
