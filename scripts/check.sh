#!/bin/sh
# Every test, in a plain build and under AddressSanitizer and UBSan. The last line is `N passed, N failed`.
set -u
cd "$(dirname "$0")/.."

passed=0
failed=0

# Adds the counts of the last line "N passed, N failed…" of a run; a run without one, or that fails without saying so, fails.
count() {
    log=$1 status=$2 name=$3
    line=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -n 1)
    p=$(echo "$line" | sed -nE 's/^([0-9]+) passed, .*/\1/p')
    f=$(echo "$line" | sed -nE 's/^[0-9]+ passed, ([0-9]+) failed.*/\1/p')
    if [ -z "$line" ] || { [ "$status" -ne 0 ] && [ "$f" -eq 0 ]; }; then
        cat "$log"
        echo "FAILED $name (exit $status)"
        failed=$((failed + 1))
        return
    fi
    [ "$f" -eq 0 ] || cat "$log"
    echo "$name: $line"
    passed=$((passed + p))
    failed=$((failed + f))
}

# One C test program: cmocka's TAP output, a line a test.
unit() {
    log=$(mktemp)
    CMOCKA_MESSAGE_OUTPUT=TAP "$1" >"$log" 2>&1
    status=$?
    p=$(grep -c '^ok ' "$log")
    f=$(grep -c '^not ok ' "$log")
    echo "$p passed, $f failed" >>"$log"
    if [ "$p" -eq 0 ] && [ "$f" -eq 0 ]; then status=1; fi
    count "$log" "$status" "$2 $(basename "$1")"
    rm -f "$log"
}

run() {
    name=$1
    shift
    log=$(mktemp)
    "$@" >"$log" 2>&1
    count "$log" $? "$name"
    rm -f "$log"
}

build() {
    folder=$1
    shift
    if [ ! -f "$folder/build.ninja" ]; then meson setup "$folder" "$@" >/dev/null || return 1; fi
    meson compile -C "$folder" >"$folder/compile.log" 2>&1 || { cat "$folder/compile.log"; return 1; }
    tests=$(ninja -C "$folder" -t targets all | sed -nE 's/^(tests\/test_[a-z_]+|random_programs|tests\/random_programs): .*/\1/p')
    # shellcheck disable=SC2086
    ninja -C "$folder" $tests >>"$folder/compile.log" 2>&1 || { cat "$folder/compile.log"; return 1; }
}

all_tests() {
    folder=$1 name=$2 random=$3
    for program in "$folder"/tests/test_*; do
        [ -x "$program" ] && [ -f "$program" ] && unit "$program" "$name"
    done
    run "$name golden programs" tests/run.py --cotan "$folder/cotan" $4
    run "$name random programs" "$folder/tests/random_programs" --count "$random"
}

export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1

run "the rooms" scripts/check_includes.py
if build build; then
    all_tests build plain 500 ""
    run "documentation" tests/docs.py --cotan build/cotan
else
    failed=$((failed + 1))
fi
if build build-sanitize -Db_sanitize=address,undefined -Doptimization=1 -Db_lundef=false; then
    all_tests build-sanitize sanitized 100 --quick
else
    failed=$((failed + 1))
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
