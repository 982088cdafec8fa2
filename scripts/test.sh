#!/bin/bash
# The tests that catch most, in less than a minute on two processors (`make test`). With words, all tests near them and nothing else:
# a folder of src/ (`make test WHAT=flow`), a group of golden programs, a page, or any part of their names.
set -u
cd "$(dirname "$0")/.."

. scripts/runs.sh
export XDG_CACHE_HOME=$PWD/build/cache # native code of the tests is kept apart, from one run to the next

# The words by which the tests of a folder of src/ are found, in the names of unit tests, golden programs and pages.
near() {
    local word=${1#src/}
    [ -d "src/$word" ] || { echo "$word"; return; }
    case ${word%%/*} in
    base) echo base out_of_memory ;;
    prim) echo prim product kernels derivatives ;;
    syntax) echo syntax language haskell ;;
    types) echo types errors mistakes warnings ;;
    core) echo core simplify elaboration ;;
    elab) echo elab elaboration language ;;
    eval) echo eval fused kernels language library ;;
    rt) echo product native parallel ;;
    run) echo native ;;
    io) echo io command ;;
    ad) case $word in
        ad/bulk*) echo bulk ;;
        ad/chad*) echo chad ;;
        *) echo _ad derivatives ladders delta dual ;;
        esac ;;
    flow) echo flow native ;;
    emit) echo flow native ;;
    driver) echo modules command api ;;
    session) echo api function interact native ;;
    explain) echo explain compare ;;
    cli) echo command repl ;;
    *) echo "$word" ;;
    esac
}

# Whether a name holds one of the words.
holds() {
    local name=$1 word
    for word in $words; do
        case $name in *"$word"*) return 0 ;; esac
    done
    return 1
}

# All tests near the words; those of native code only where one of the words is about it, since compiling takes long.
near_tests() {
    local program
    for program in build/tests/test_*; do
        [ -f "$program" ] && [ -x "$program" ] && holds "$(basename "$program")" && unit "$program" "unit tests"
    done
    # shellcheck disable=SC2046,SC2086
    if holds "$(git ls-files tests/golden | tr '\n' ' ')"; then
        run "golden programs" tests/run.py $words
        run "golden programs, native" tests/run.py --engine native --quick $words
        run "golden programs, every method" tests/methods.py --quick --sample 63 $words
    fi
    case " $words " in *" prim "*) run "vector forms" tests/vector_forms.py ;; esac
    case " $words " in *" flow "*) run "passes over Flow, checked" tests/passes.py --sample 30 ;; esac
    # shellcheck disable=SC2086
    if holds "$(git ls-files docs README.md CONTRIBUTING.md | tr '\n' ' ')"; then run "documentation" tests/docs.py $words; fi
}

# A choice of all: every unit test but one that runs for a minute by itself, every second golden program, few of what is slow.
quick_tests() {
    local program
    run "golden programs" tests/run.py --quick --sample 2
    run "golden programs of Flow, native" tests/run.py --engine native --quick flow native/
    for program in build/tests/test_*; do
        case $program in */test_out_of_memory | *.p) continue ;; esac
        unit "$program" "unit tests"
    done
    run "golden programs, every method" tests/methods.py --quick --sample 321
    run "golden programs, dual arrays at run time" env COTAN_BULK=run tests/methods.py --quick --sample 40 --methods bulk
    run "random programs" build/tests/random_programs --count 40 --methods forward,tape
    run "random lists" tests/lists.py --count 40
    run "random programs over arrays" build/tests/random_arrays --count 40
    run "random programs of tests/generate, every method" tests/generate/fuzz.py --from 1001000 --count 30 --breadth eval
    run "Haskell programs" tests/haskell.py
    run "documentation" tests/docs.py
    run "the library page" tests/library_docs.py
    run "the index of the library" scripts/library_index.py
    run "manual and completion" tests/completion.py
    run "error codes" tests/error_codes.py
    run "the table of passes" scripts/pass_table.py
    run "the evidence page" scripts/evidence.py
    run "the layers" scripts/check_includes.py
    run "files that pages and comments name" scripts/check_paths.py
}

build build || exit 1
words=""
for word in "$@"; do words="$words $(near "$word")"; done
if [ $# -eq 0 ]; then quick_tests; else near_tests; fi
finish
verdict
