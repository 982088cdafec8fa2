# What people type. The build itself is Meson's (meson.build).
PREFIX ?= /usr/local

all: build/build.ninja
	@meson compile -C build

build/build.ninja:
	@scripts/setup.sh
	@meson setup build --prefix=$(PREFIX) >build.log 2>&1 || { cat build.log; rm -f build.log; exit 1; }
	@rm -f build.log

demo: all
	@scripts/demo.sh

# The tests that catch most, in less than a minute; or all those near WHAT: make test WHAT=flow
test: build/build.ninja
	@scripts/test.sh $(WHAT)

# The tests, in a plain build and under AddressSanitizer and UBSan; of long ones a part.
check:
	@scripts/setup.sh
	@scripts/check.sh

# The same, on all programs where `check` has some of them, which depend on the commit.
check-all:
	@scripts/setup.sh
	@COTAN_CHECK_ALL=1 scripts/check.sh

# The Haskell 98 programs of tests/haskell, by Cotan and by GHC, which is installed if it is not there.
check-haskell: all
	@command -v ghc >/dev/null || { sudo=$$([ "$$(id -u)" = 0 ] || echo sudo); $$sudo apt-get install -y ghc >/dev/null; }
	@tests/haskell.py --ghc

# Random programs, and golden ones that are edited at random, for TIME seconds each, on WORKERS processors, beginning where the last run ended
# (build/fuzz); or a fuzz target: TARGET=front, json or npy, RUNS times.
TIME ?= 3600
WORKERS ?= $(shell nproc)
RUNS ?= 10000000
fuzz: all
ifdef TARGET
	@scripts/fuzz.sh $(TARGET) $(RUNS)
else
	@meson compile -C build random_programs random_arrays
	@nice tests/generate/fuzz.py --state build/fuzz --time $(TIME) --workers $(WORKERS) --others build/tests --sanitized build-sanitize/cotan; \
		found=$$?; nice tests/generate/fuzz.py --edit --state build/fuzz/edited --time $(TIME) --workers $(WORKERS); exit $$((found | $$?))
endif

# Mutants of the optimiser: COUNT of those that are not known yet, of files whose paths hold one of FILES (tests/README.md).
COUNT ?= 50
mutate:
	@nice tests/mutate.py --count $(COUNT) $(if $(FILES),--files $(FILES))

# What several threads compute, under ThreadSanitizer, with every loop shared out that can be.
threads:
	@[ -f build-threads/build.ninja ] || meson setup build-threads -Db_sanitize=thread -Doptimization=1 -Db_lundef=false \
		-Dc_args=-DCT_WORTH=1 >/dev/null
	@meson compile -C build-threads cotan:executable
	@TSAN_OPTIONS=halt_on_error=1 tests/threads.py --cotan build-threads/cotan --threads 3 --flags=-fsanitize=thread
	@TSAN_OPTIONS=halt_on_error=1 COTAN_THREADS=3 tests/run.py --cotan build-threads/cotan --quick --sample 8

# Every golden program as native code, or every SAMPLE-th: the compiled code under AddressSanitizer and UBSan, Flow checked after every pass.
SAMPLE ?= 1
sanitize-native:
	@[ -f build-sanitize/build.ninja ] || meson setup build-sanitize -Db_sanitize=address,undefined -Doptimization=g \
		-Db_lundef=false "-Dc_args=-DCT_LINT -g1" >/dev/null
	@meson compile -C build-sanitize cotan:executable
	@CC="cc -fsanitize=address,undefined -fno-sanitize-recover=all" \
		tests/run.py --cotan build-sanitize/cotan --engine native --quick --timeout 600 --sample $(SAMPLE)

bench: all
	@bench/run.py

# The evals of GradBench at growing sizes, beside hand-written functions in C.
bench-gradbench: all
	@bench/gradbench.py

# The same functions by the Haskell library `ad`: Table 1 of DUAL, which needs GHC, and Hackage for `ad`. Before it, classic programs by GHC.
bench-haskell: all
	@scripts/setup.sh ghc cabal-install libghc-adjunctions-dev libghc-comonad-dev libghc-data-reify-dev libghc-erf-dev libghc-free-dev \
		libghc-reflection-dev libghc-semigroups-dev
	@bench/programs.py
	@bench/haskell.py

install: all
	@meson configure build -Dprefix=$(PREFIX)
	@meson install -C build
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" -eq 0 ] && command -v ldconfig >/dev/null; then ldconfig; fi

# Debian packages of the last commit, in build-deb.
deb:
	@scripts/deb.sh

# The source of the last commit, as cotan-VERSION.tar.gz in build-dist: it builds with what the README lists, and outside of a repository.
dist:
	@scripts/dist.sh build-dist

# Whether tarball, command, library and Debian packages of the last commit have the same bytes when they are made twice, in different folders.
reproducible:
	@scripts/reproducible.sh

# The package for Python, in an environment of its own (build/python): what `make check` runs, and with JAX, PyTorch and samplers.
check-python: all
	@scripts/python.sh
check-python-all: all
	@scripts/python.sh all

format:
	@clang-format -i $$(git ls-files '*.c' '*.h')

clean:
	@rm -rf build build-*

.PHONY: all demo test check check-all fuzz mutate threads sanitize-native bench bench-gradbench bench-haskell install deb dist reproducible check-python check-python-all check-haskell format clean
