#!/bin/bash
# python.sh [all]: builds the package for Python, installs it in an environment of its own (build/python) and runs its tests, tests/python. The last
# line is `N passed, N failed`. With `all`, also the tests with libraries that are large: JAX, PyTorch, samplers and their notebooks. Without the
# network and with nothing installed from an earlier run, it says so, and nothing passes or fails.
set -u
cd "$(dirname "$0")/.."

environment=$PWD/build/python
packages="meson-python>=0.15 meson>=1.0 ninja numpy pytest scipy pandas pyarrow mypy"
[ "${1:-}" = all ] && packages="$packages jax torch blackjax arviz nbclient ipykernel matplotlib"

skip() {
    echo "skipped: $1"
    echo "0 passed, 0 failed"
    exit 0
}

python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || skip "the package needs Python 3.11 or newer"
if [ ! -x "$environment/bin/python" ]; then
    mkdir -p build && python3 -m venv "$environment" || skip "there is no venv for python3 (Debian: python3-venv)"
fi
# shellcheck disable=SC2086
if ! "$environment/bin/pip" install -q --disable-pip-version-check $packages >"$environment/pip.log" 2>&1; then
    "$environment/bin/python" -c "import mesonpy, numpy, pytest, scipy" 2>/dev/null ||
        skip "PyPI cannot be reached, and what the tests need is not installed: $(tail -n 1 "$environment/pip.log")"
fi
export PATH=$environment/bin:$PATH
# -O0: the library was tested before, and the package does not need to be fast here.
if ! pip install -q --no-build-isolation --no-deps --force-reinstall -Cbuild-dir=build/wheel -Csetup-args=-Doptimization=0 . >"$environment/build.log" 2>&1; then
    cat "$environment/build.log"
    echo "0 passed, 1 failed"
    exit 1
fi
cd tests/python || exit 1 # away from the sources, which are not what is tested
COTAN=${COTAN:-$OLDPWD/build/cotan} python -m pytest -q -p no:cacheprovider -rs --junitxml="$environment/results.xml" . ${1:+-m "heavy or not heavy"} >"$environment/test.log" 2>&1
status=$?
[ $status -eq 0 ] || cat "$environment/test.log"
grep '^SKIPPED' "$environment/test.log" | sed 's/^SKIPPED/skipped:/'
python - "$environment/results.xml" <<'END'
import sys
import xml.etree.ElementTree

suite = xml.etree.ElementTree.parse(sys.argv[1]).getroot().find("testsuite")
failed = int(suite.get("failures")) + int(suite.get("errors"))
print(f"{int(suite.get('tests')) - failed - int(suite.get('skipped'))} passed, {failed} failed")
END
exit $status
