#!/bin/sh
# Fuzzes with libFuzzer under AddressSanitizer and UBSan: scripts/fuzz.sh TARGET RUNS. What is found is kept in build-fuzz/TARGET.
set -eu
cd "$(dirname "$0")/.."
target=$1 runs=$2

command -v clang >/dev/null || { echo "fuzz: clang is needed: apt-get install clang libclang-rt-14-dev" >&2; exit 1; }
if [ ! -f build-fuzz/build.ninja ]; then
    CC=clang meson setup build-fuzz -Dfuzzers=true -Db_sanitize=address,undefined -Db_lundef=false -Doptimization=2 \
        -Dc_args=-fsanitize=fuzzer-no-link -Dwerror=false >/dev/null
fi
ninja -C build-fuzz "tests/fuzz_$target" >build-fuzz/compile.log || { cat build-fuzz/compile.log; exit 1; }

# The corpus begins with the programs and values of the other tests.
corpus=build-fuzz/corpus-$target found=build-fuzz/$target/
mkdir -p "$corpus" "$found"
python3 tests/fuzz/seeds.py "$target" "$corpus"
exec build-fuzz/tests/fuzz_"$target" -runs="$runs" -max_len="${MAX_LENGTH:-2000}" -timeout=10 -entropic=0 -use_value_profile=0 -rss_limit_mb=2048 \
    -artifact_prefix="$found" -dict=tests/fuzz/program.dict -print_final_stats=1 -verbosity="${VERBOSITY:-1}" "$corpus"
