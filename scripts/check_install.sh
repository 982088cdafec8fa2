#!/bin/sh
# Installs a build into an empty folder and builds examples/c against it, as a user would: shared, static, and by pkg-config.
set -eu
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
build=${1:-build}
DESTDIR=$folder/root meson install -C "$build" --no-rebuild --quiet
prefix=$(find "$folder/root" -name include -type d | head -n 1 | xargs dirname)
libraries=$(dirname "$(find "$prefix" -name libcotan.so)")
expected='value 14, gradient [2,4,6]'
passed=0
failed=0

try() {
    what=$1
    shift
    if "$@" -o "$folder/example" && [ "$(LD_LIBRARY_PATH=$libraries "$folder/example")" = "$expected" ]; then
        passed=$((passed + 1))
    else
        echo "FAILED: an example built with the $what"
        failed=$((failed + 1))
    fi
}

try "shared library" cc examples/c/gradient.c -I"$prefix/include" -L"$libraries" -lcotan
try "static library" cc examples/c/gradient.c -I"$prefix/include" "$libraries/libcotan.a" -ljansson -lzip -lm
flags=$(PKG_CONFIG_PATH=$libraries/pkgconfig pkg-config --define-variable=prefix="$prefix" --cflags --libs cotan)
# shellcheck disable=SC2086
try "pkg-config file" cc examples/c/gradient.c $flags
# The worked example of docs/native.md: through the library, and as compiled C in a folder with nothing else.
mkdir "$folder/alone"
expected='1.99 exp(-0.30 t) cos(1.50 t) + 1.00'
# shellcheck disable=SC2086
if cc -Wall -Wextra -Werror examples/c/fit.c $flags -lm -o "$folder/fit" && [ "$(XDG_CACHE_HOME=$folder/cache \
    LD_LIBRARY_PATH=$libraries "$folder/fit" examples/c/curve.cot | tail -n 1)" = "$expected" ]; then
    passed=$((passed + 1))
else
    echo "FAILED: examples/c/fit.c"
    failed=$((failed + 1))
fi
if "$prefix/bin/cotan" compile examples/c/curve.cot loss --grad -o "$folder/alone/loss" && cp examples/c/embedded.c "$folder/alone" &&
    (cd "$folder/alone" && cc -std=c11 -Wall -Wextra -Werror embedded.c loss.c -lm -o embedded) &&
    [ "$("$folder/alone/embedded" | tail -n 1)" = "$expected" ]; then
    passed=$((passed + 1))
else
    echo "FAILED: examples/c/embedded.c"
    failed=$((failed + 1))
fi
if [ "$("$prefix/bin/cotan" --version)" != "" ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
# The programs of GradBench are found beside the installed command.
answer=$(printf '%s\n' '{"id":1,"kind":"define","module":"hello"}' \
    '{"id":2,"kind":"evaluate","module":"hello","function":"double","input":3}' | "$prefix/bin/cotan" gradbench | tail -n 1)
case $answer in
'{"id":2,"success":true,"output":6.0,'*) passed=$((passed + 1)) ;;
*)
    echo "FAILED: cotan gradbench answers $answer"
    failed=$((failed + 1))
    ;;
esac
for file in man/man1/cotan.1 bash-completion/completions/cotan zsh/site-functions/_cotan \
    fish/vendor_completions.d/cotan.fish; do
    if [ -s "$prefix/share/$file" ]; then
        passed=$((passed + 1))
    else
        echo "FAILED: $file is not installed"
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
