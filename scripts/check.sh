#!/bin/bash
# The tests, in a plain build and under AddressSanitizer and UBSan, where Core is also checked after every pass. The last line is `N passed, N failed`.
# A line is printed as each run ends, and what a run that fails has printed. Where all programs would take too long, a commit has one of N of them
# (`some N`), and the next commit others; with COTAN_CHECK_ALL=1 it has all.
# shellcheck disable=SC2046 # `some` gives several words
set -u
cd "$(dirname "$0")/.." || exit

. scripts/runs.sh

# A fuzz target on its first inputs, and on what fuzzing has found.
replay() {
    seeds=$logs/$3-$2 && mkdir "$seeds"
    python3 tests/fuzz/seeds.py "$2" "$seeds"
    [ ! -d "tests/fuzz/found/$2" ] || cp tests/fuzz/found/"$2"/* "$seeds"
    run "$3, fuzz target $2" "$1/tests/fuzz_$2" "$seeds"/*
}

# As many programs as this takes, by the options of the test programs: all, or one of $1, which depends on the commit.
some() {
    n=$1
    [ -z "${COTAN_CHECK_ALL:-}" ] || n=1
    echo "--sample $n --offset $((seed % n))"
}

# The number $1, or with COTAN_CHECK_ALL $2.
few() { if [ -z "${COTAN_CHECK_ALL:-}" ]; then echo "$1"; else echo "$2"; fi; }

# All that is tested in both builds: the folder, its name, how many random programs, and one of how many golden programs by each of
# the methods, of them in general, and what makes the rest short.
all_tests() {
    folder=$1 kind=$2 random=$3 every=$4 golden=$5 size=$6
    for program in "$folder"/tests/test_*; do
        [ -x "$program" ] && [ -f "$program" ] && unit "$program" "$kind"
    done
    # shellcheck disable=SC2086
    {
        run "$kind, the terminal" tests/terminal.py --cotan "$folder/cotan" $size
        run "$kind, golden programs" tests/run.py --cotan "$folder/cotan" $size $(some "$golden")
        run "$kind, every method" tests/methods.py --cotan "$folder/cotan" $size $(some "$every")
        run "$kind, dual arrays at run time" env COTAN_BULK=run tests/methods.py --cotan "$folder/cotan" $size \
            --methods bulk $(some "$every")
        run "$kind, Haskell programs" tests/haskell.py --cotan "$folder/cotan" $(some $((2 * golden)))
        run "$kind, formatting" tests/format.py --cotan "$folder/cotan" $(some $((4 * golden)))
        run "$kind, bad input" tests/bad_input.py --cotan "$folder/cotan" $size
        run "$kind, GradBench" tests/gradbench.py --cotan "$folder/cotan" $size
    }
    run "$kind, random lists" tests/lists.py --cotan "$folder/cotan" --count $((random / 2)) --native 5
    run "$kind, warnings about patterns" tests/patterns.py --cotan "$folder/cotan"
    run "$kind, files of arrays" tests/numpy_files.py --cotan "$folder/cotan"
    run "$kind, fits" tests/fit.py --cotan "$folder/cotan"
    for target in front json npy; do replay "$folder" "$target" "$kind"; done
    run "$kind, random programs" "$folder/tests/random_programs" --count "$random" --methods forward,tape
    run "$kind, random programs, every method" "$folder/tests/random_programs" --count $((random / 5)) --seed 1000000
    run "$kind, random programs over arrays" "$folder/tests/random_arrays" --count "$random"
    run "$kind, random programs over arrays, other methods" "$folder/tests/random_arrays" --count $((random / 10)) \
        --seed 1000000 --methods forward,vector,delta,delta-fused,dual-staged,dual-cayley,dual-arrays,dual-defunc,chad
    finish
}

# Outside of a repository it is always the same.
commit=$(git rev-parse HEAD 2>/dev/null | cut -c 1-7)
seed=$((16#${commit:-1000000}))

export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1

run "the layers" scripts/check_includes.py
run "files that pages and comments name" scripts/check_paths.py
run "the library page" tests/library_docs.py
run "the index of the library" scripts/library_index.py
run "the table of passes" scripts/pass_table.py
run "the evidence page" scripts/evidence.py
if build build; then
    run "external symbols" scripts/check_symbols.py build
    run "what is installed" tests/install.py
    all_tests build plain 200 60 6 ""
    export XDG_CACHE_HOME=$logs/cache # what is compiled for the tests is kept apart
    run "golden programs of Flow, native" tests/run.py --cotan build/cotan --engine native --quick flow native $(some 6)
    run "golden programs, native" tests/run.py --cotan build/cotan --engine native --quick $(some 40)
    if [ "$(uname -m)" = x86_64 ]; then
        for lanes in avx512f avx; do # as many lanes as smaller processors have
            grep -qw "$lanes" /proc/cpuinfo &&
                run "golden programs, native, -mno-$lanes" env "CC=cc -mno-$lanes" tests/run.py --cotan build/cotan native flow/kept $(some 3)
        done
    fi
    run "random programs, native" build/tests/random_programs --count 20 --methods forward,tape --native
    run "rules that fire" tests/rules.py --cotan build/cotan $(some 4)
    run "passes over Flow, checked" tests/passes.py --cotan build/cotan $(some 120)
    run "golden derivatives on Flow" tests/native.py --cotan build/cotan $(some 45)
    run "random programs, derivatives on Flow" build/tests/random_programs --count 12 --methods native
    run "random programs over long arrays, on Flow" build/tests/random_arrays --long --count 25 --methods native
    run "random programs of tests/generate, from seed $seed, native" tests/generate/fuzz.py --from "$seed" --count 15
    run "random programs of tests/generate, from seed $((seed + 1000)), every method" \
        tests/generate/fuzz.py --from $((seed + 1000)) --count 50 --breadth eval
    run "random programs of tests/generate, from seed $((seed + 3000)), Flow interpreted" \
        tests/generate/fuzz.py --from $((seed + 3000)) --count 100 --breadth interpreted
    run "golden programs edited at random, from seed $((seed + 4000)), Flow interpreted" \
        tests/generate/fuzz.py --edit --from $((seed + 4000)) --count 150 --breadth interpreted
    run "golden programs edited at random, from seed $((seed + 5000)), native" tests/generate/fuzz.py --edit --from $((seed + 5000)) --count 10
    run "random programs of tests/generate, from seed $((seed + 2000)), every emission" \
        tests/generate/fuzz.py --from $((seed + 2000)) --count 3 --breadth emission
    run "every emission" tests/emission.py --cotan build/cotan $(some 330)
    run "compiled programs" tests/compile.py --cotan build/cotan
    run "vector forms" tests/vector_forms.py
    run "products by CBLAS" tests/blas.py --cotan build/cotan
    run "exact mathematics" tests/exact_math.py --cotan build/cotan
    run "emitted C" tests/emitted.py --cotan build/cotan $(some 240)
    run "costs" tests/costs.py --cotan build/cotan $(some 54)
    run "costs of the library" tests/library_costs.py --cotan build/cotan
    run "CHAD" tests/chad.py --cotan build/cotan
    run "spans" tests/spans.py --cotan build/cotan --random "$(few 10 40)"
    run "several threads" tests/threads.py --cotan build/cotan
    run "golden programs, 3 threads" env COTAN_THREADS=3 tests/run.py --cotan build/cotan $(some 8)
    run "error codes" tests/error_codes.py --cotan build/cotan
    run "manual and completion" tests/completion.py --cotan build/cotan
    run "the page of explain" tests/explain_page.py --cotan build/cotan
    run "documentation" tests/docs.py --cotan build/cotan
    run "installed" scripts/check_install.sh build
    run "the package for Python" scripts/python.sh
    finish
else
    failed=$((failed + 1))
fi
if build build-sanitize -Db_sanitize=address,undefined -Doptimization=g -Db_lundef=false "-Dc_args=-DCT_LINT -g1"; then
    all_tests build-sanitize sanitized 40 450 24 --quick
else
    failed=$((failed + 1))
fi

verdict
