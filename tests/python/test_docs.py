"""The examples of docs/python.md, in order, in one session."""
import doctest
import re

import pytest


def test_examples_of_the_page(root, tmp_path, monkeypatch):
    for library in ("scipy", "pandas"):
        pytest.importorskip(library)
    page = (root / "docs" / "python.md").read_text()
    for name, text in re.findall(r"```haskell\n-- ([\w/]+\.cot)\n(.*?)```", page, re.S):
        (tmp_path / name).write_text(text)
    (tmp_path / "examples").symlink_to(root / "examples")
    monkeypatch.chdir(tmp_path)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    globs, reports = {}, []
    for match in re.finditer(r"```python\n(.*?)```", page, re.S):
        line = page[:match.start(1)].count("\n")
        test = doctest.DocTestParser().get_doctest(match[1].replace("…", "..."), globs, "python.md", "docs/python.md", line)
        runner.run(test, out=reports.append, clear_globs=False)
        globs = test.globs
    assert runner.tries > 20
    assert runner.failures == 0, "".join(reports)
