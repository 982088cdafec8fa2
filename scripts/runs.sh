# Test runs side by side, as many as there are processors, and what came of them: for scripts/check.sh and scripts/test.sh. A script
# queues its runs with `run` and starts them with `finish`, which prints a line as each run ends, with its processor time; `verdict`
# prints the last line. What a run says it skipped, in lines `skipped: WHAT`, is in its own line, and once more before the last.
# shellcheck shell=bash

passed=0
failed=0
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
workers=$(nproc)
skipped=()
names=()
commands=()

# Prints a line behind the time since the script began, in minutes and seconds.
say() { printf '%3d:%02d  %s\n' $((SECONDS / 60)) $((SECONDS % 60)) "$1"; }

# Adds the counts of a run's last line `N passed, N failed`. A run without such a line fails, and so does one with another exit status
# than its line says.
count() {
    log=$1 status=$2 what=$3
    line=$(grep -E '^([a-z ]+: )?[0-9]+ passed, [0-9]+ failed' "$log" | tail -n 1 | sed -E 's/^[a-z ]+: //')
    p=$(echo "$line" | sed -nE 's/^([0-9]+) passed, .*/\1/p')
    f=$(echo "$line" | sed -nE 's/^[0-9]+ passed, ([0-9]+) failed.*/\1/p')
    if [ -z "$line" ] || { [ "$status" -ne 0 ] && [ "$f" -eq 0 ]; }; then
        cat "$log"
        say "FAILED $what (exit $status)"
        failed=$((failed + 1))
        return
    fi
    [ "$f" -eq 0 ] || cat "$log"
    skips=$(sed -nE 's/^skipped: (.*)/; \1/p' "$log" | awk '!said[$0]++' | tr -d '\n')
    skips=${skips#; }
    if [ -n "$skips" ]; then skipped+=("${what#*] }: $skips"); fi
    if [ $((p + f)) -gt 0 ]; then say "$what: $line${skips:+; skipped: $skips}"; else say "$what: ${skips:+skipped: }${skips:-nothing to test}"; fi
    passed=$((passed + p))
    failed=$((failed + f))
}

# Queues the command `$2…`, called `$1`. It starts later, so that its environment is given by `env`, not before `run`.
run() {
    names+=("$1")
    shift
    commands+=("${*@Q}")
}

# Runs what is queued, and counts each run as it ends.
finish() {
    local total=${#names[@]} next=0 ended=0 pid status number spent
    local -A running=()
    while [ "$ended" -lt "$total" ]; do
        while [ "$next" -lt "$total" ] && [ "${#running[@]}" -lt "$workers" ]; do
            ( eval "${commands[$next]}" >"$logs/$next.log" 2>&1; status=$?; times >"$logs/$next.times"; exit $status ) &
            running[$!]=$next
            next=$((next + 1))
        done
        wait -n -p pid "${!running[@]}"
        status=$?
        ended=$((ended + 1))
        number=${running[$pid]}
        spent=$(sed -E 's/[ms]/ /g' "$logs/$number.times" | awk '{ s += 60 * ($1 + $3) + $2 + $4 } END { printf "%.0f", s }')
        count "$logs/$number.log" "$status" "[$ended of $total, $spent s] ${names[$number]}"
        unset "running[$pid]"
    done
    names=()
    commands=()
}

# One C test program: cmocka's TAP output, a line a test. A skipped test counts as neither, and is named.
tap() {
    CMOCKA_MESSAGE_OUTPUT=TAP "$1" >"$2" 2>&1
    status=$?
    cat "$2"
    p=$(grep -c '^ok ' "$2")
    f=$(grep '^not ok ' "$2" | grep -vc '# SKIP')
    sed -nE 's/^not ok .*# SKIP (.*)/skipped: \1/p' "$2"
    echo "$p passed, $f failed"
    [ "$p" -gt 0 ] && return $status
}

unit() { run "$2, $(basename "$1")" tap "$1" "$logs/$(basename "$1").tap"; }

# Builds the folder `$1`, made by `meson setup` with the options `$2…`, with all programs of the tests.
build() {
    local folder=$1 tests
    shift
    say "building $folder"
    if [ ! -f "$folder/build.ninja" ]; then meson setup "$folder" "$@" >/dev/null || return 1; fi
    meson compile -C "$folder" >"$folder/compile.log" 2>&1 || { cat "$folder/compile.log"; return 1; }
    tests=$(ninja -C "$folder" -t targets all | sed -nE 's/^(tests\/test_[a-z_]+|tests\/fuzz_[a-z]+|random_programs|tests\/random_programs|tests\/random_arrays): .*/\1/p')
    # shellcheck disable=SC2086
    ninja -C "$folder" $tests >>"$folder/compile.log" 2>&1 || { cat "$folder/compile.log"; return 1; }
}

# What was skipped, the last line, and the exit status.
verdict() {
    [ "${#skipped[@]}" -eq 0 ] || printf 'skipped: %s\n' "${skipped[@]}"
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}
