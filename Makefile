# Every target starts from nothing: it makes the virtual environment, builds the core, and does its work.
# You need python3 (with venv and headers), a C++20 compiler and make. CMake and Ninja are installed with the
# build requirements if the machine has none.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
SHELL := /bin/sh

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SANITIZED := build/sanitize
JOBS ?= $(shell getconf _NPROCESSORS_ONLN)
CONSTRAINTS ?= # such as constraints.txt: install exactly these versions
ifneq ($(CONSTRAINTS),)
export PIP_CONSTRAINT := $(abspath $(CONSTRAINTS))
endif

export CXX
export PIP_DISABLE_PIP_VERSION_CHECK := 1

BUILD_FILES := pyproject.toml CMakeLists.txt $(wildcard core/*.?pp core/*/*.?pp core/*/*/*.?pp)
PYTHON_FILES := $(shell find src/riparian -name '*.py')
CPP_FILES := $(shell find core tests/core -name '*.?pp')

.PHONY: help
help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 23

.PHONY: venv
venv: $(VENV)/.experiments ## make .venv, with both packages installed in it

# The core, and what the command line needs: enough for the demo.
# Without isolation, the build directory is kept, and only changed files are compiled again.
$(VENV)/.stamp: $(BUILD_FILES) $(VENV)/.build-requirements
	@echo "installing the command line, and building the core ..."
	@$(BIN)/pip install --quiet --no-build-isolation --editable '.[cli]'
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/.stamp
	@echo "installing what the tests, the checks and the pages need: 2 GB, a few minutes ..."
	@$(BIN)/pip install --quiet --no-build-isolation --editable '.[dev]'
	@touch $@

$(VENV)/.experiments: experiments/pyproject.toml $(VENV)/.stamp $(VENV)/.dev
	@$(BIN)/pip install --quiet --editable ./experiments
	@touch $@

# The backend itself says whether it needs CMake and Ninja from the package index.
$(VENV)/.build-requirements: pyproject.toml
	@echo "making $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")' > $@.txt
	@$(BIN)/pip install --quiet --requirement $@.txt
	@$(BIN)/python -c 'from scikit_build_core.build import get_requires_for_build_editable as more; print(*more(), sep="\n")' > $@.txt
	@$(BIN)/pip install --quiet --requirement $@.txt
	@touch $@

.PHONY: demo
demo: $(VENV)/.stamp ## learn two streams, and write a report of each to look at
	$(BIN)/riparian demo

# The tests are independent of one another, so they run on all processors.
PYTEST := -m pytest --timeout 600 --numprocesses $(JOBS) --dist worksteal

.PHONY: test
test: venv ## run the tests, and the examples in the docstrings
	$(BIN)/python $(PYTEST) -m 'not ray'
	$(BIN)/python -m pytest --timeout 600 -m ray

.PHONY: coverage
coverage: venv ## run the tests and show which lines they reach, as a table and in build/coverage/html
	$(BIN)/python $(PYTEST) -m 'not ray' --cov --cov-report=
	$(BIN)/python -m pytest --timeout 600 -m ray --cov --cov-append --cov-report=term --cov-report=html

.PHONY: lint
lint: venv ## check style and format
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports
	@$(BIN)/clang-format --dry-run --Werror $(CPP_FILES)

.PHONY: format
format: venv ## format all sources
	$(BIN)/ruff format
	$(BIN)/clang-format -i $(CPP_FILES)

.PHONY: phrases
phrases: ## list phrases that the project does not use (CONTRIBUTING.md, Words)
	$(PYTHON) tests/project/phrases.py

.PHONY: types
types: venv ## check types
	$(BIN)/mypy

# A second environment with only the sanitized package; everything else comes from the first.
# (A .pth file in a directory that was added by a .pth file is not read, so the editable install of
# the first environment stays out.)
$(SANITIZED)/.stamp: $(VENV)/.stamp $(VENV)/.dev $(PYTHON_FILES)
	$(PYTHON) -m venv --without-pip $(SANITIZED)/venv
	$(BIN)/python -c $(PURELIB) > $(SANITIZED)/packages
	cp $(SANITIZED)/packages "$$($(SANITIZED)/venv/bin/python -c $(PURELIB))/first.pth"
	$(BIN)/pip install --quiet --no-build-isolation --no-deps --upgrade \
	    --target "$$($(SANITIZED)/venv/bin/python -c $(PURELIB))" \
	    --config-settings=build-dir=$(SANITIZED)/cmake \
	    --config-settings=cmake.build-type=Debug \
	    --config-settings=cmake.define.RIPARIAN_SANITIZE=ON .
	@touch $@

PURELIB := 'import sysconfig; print(sysconfig.get_path("purelib"))'

# Python itself is not sanitized, so the runtimes must be there before it starts; libstdc++ too, or
# AddressSanitizer would not find the function that throws. Python keeps memory until it ends, so leaks
# cannot be distinguished from that. A request for too much memory fails, as without the sanitizers.
library = $(shell $(CXX) -print-file-name=$(1))
SANITIZED_RUN = env \
    LD_PRELOAD='$(call library,libasan.so) $(call library,libubsan.so) $(call library,libstdc++.so)' \
    ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
    $(SANITIZED)/venv/bin/python

.PHONY: sanitize
sanitize: $(SANITIZED)/.stamp ## run the tests of the engine with address and undefined behaviour checked
	$(SANITIZED_RUN) -c 'import riparian._core as core; assert core.sanitized, core.__file__'
	$(SANITIZED_RUN) $(PYTEST) -m engine -p no:cacheprovider tests experiments/tests

# The baseline kernels only: they are all the same to threads.
build/threads: tests/core/threads.cpp tests/core/forests.hpp $(wildcard core/*.?pp core/*/*.?pp core/*/*/*.?pp)
	@mkdir -p build
	$(CXX) -std=c++20 -O1 -g -Wall -Wextra -fsanitize=thread -Icore -DRIPARIAN_KERNELS=baseline \
	    tests/core/threads.cpp core/kernels/kernels.cpp -pthread -o $@

.PHONY: threads
threads: build/threads ## run a forest under threads with ThreadSanitizer
	TSAN_OPTIONS=halt_on_error=1 $<

# Every block of a pool is an allocation of its own (RIPARIAN_SANITIZE), and can fail.
build/failures: tests/core/failures.cpp tests/core/forests.hpp $(wildcard core/*.?pp core/*/*.?pp core/*/*/*.?pp)
	@mkdir -p build
	$(CXX) -std=c++20 -O1 -g -Wall -Wextra -Wno-mismatched-new-delete -fsanitize=address -Icore \
	    -DRIPARIAN_KERNELS=baseline -DRIPARIAN_SANITIZE=1 -DRIPARIAN_FAILPOINTS=1 \
	    tests/core/failures.cpp core/kernels/kernels.cpp -o $@

.PHONY: failures
failures: build/failures ## fail every allocation of a forest in turn
	$<

OTHER_INPUT := dtype checkpoint extra csv arff libsvm jsonl tables log arrow

# The full check always tries the same input, so that only a change can make it fail. `make fuzz FUZZ_SEED=2`
# tries other input, and fuzz-full draws a seed of its own.
FUZZ_SEED ?= 1

.PHONY: fuzz
fuzz: $(SANITIZED)/.stamp ## feed broken snapshots to the sanitized build, and ten seconds of all other broken input
	$(SANITIZED_RUN) fuzz/fuzz.py snapshot --seconds 80 --seed $(FUZZ_SEED)
	$(SANITIZED_RUN) fuzz/fuzz.py $(OTHER_INPUT) --seconds 10 --seed $(FUZZ_SEED)

.PHONY: fuzz-full
fuzz-full: $(SANITIZED)/.stamp ## a million broken snapshots and all other input, sanitized: hours, in pieces if you like
	RIPARIAN_COMMIT=$$(git rev-parse --short HEAD) $(SANITIZED_RUN) fuzz/fuzz.py $(OTHER_INPUT) --seconds 900 --record
	RIPARIAN_COMMIT=$$(git rev-parse --short HEAD) $(SANITIZED_RUN) fuzz/fuzz.py snapshot --files 1000000 --record

.PHONY: kills
kills: venv ## kill `learn`, `serve` and shards on Ray 1,000 times in all, and compare: hours
	$(BIN)/python fuzz/kills.py learn --kills 650
	$(BIN)/python fuzz/kills.py serve --kills 230
	$(BIN)/python fuzz/kills.py ray --kills 120

.PHONY: promises
promises: venv ## write the recorded results into docs/promises.md
	$(BIN)/python -m benchmarks.reliability --page docs/promises.md

.PHONY: ray-full
ray-full: venv ## all cases of forests in shards on Ray, and ten kills in a run
	RIPARIAN_RAY_FULL=1 $(BIN)/python -m pytest --timeout 600 --numprocesses 0 tests/ray tests/cli/test_cli_on_ray.py

.PHONY: bench-ray
bench-ray: venv ## measure shards on Ray and plain threads
	$(BIN)/python -m benchmarks.ray_shards --out benchmarks/record/ray-shards.json
	$(BIN)/python -m benchmarks.ray_model benchmarks/record/ray-shards.json --page docs/how-to/ray.md

.PHONY: bench-serve
bench-serve: venv ## measure the service under load, and River behind FastAPI: half an hour (needs the extra bench)
	$(BIN)/python -m benchmarks.serve --minutes 10 --out benchmarks/record/serve.json
	$(BIN)/python -m benchmarks.serve_table benchmarks/record/serve.json --page docs/how-to/serve.md

.PHONY: docs
docs: venv ## build the pages into build/site, with warnings as errors
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict
	@! grep -rlE '<(link|script|img|iframe)[^>]* (src|href)="(https?:)?//' --include=*.html build/site \
	    || { echo 'these pages load something from a network: keep it in the site'; exit 1; }
	@echo "the site is in build/site: open build/site/index.html"

SDIST := build/sdist

# Unpack the archive, and install it in an environment with nothing else.
.PHONY: sdist-installed
sdist-installed: venv
	rm -rf $(SDIST)
	mkdir -p $(SDIST)/source
	$(BIN)/python -c 'from scikit_build_core.build import build_sdist; build_sdist("$(SDIST)")'
	@! tar -tzf $(SDIST)/riparian-*.tar.gz | grep -E '\.(so|pyd|o|pyc|whl)$$|__pycache__|/(build|dist|\.[a-z_]*cache|\.hypothesis)/' \
	    || { echo 'these files are not sources: add them to sdist.exclude in pyproject.toml'; exit 1; }
	tar -xzf $(SDIST)/riparian-*.tar.gz -C $(SDIST)/source --strip-components=1
	$(PYTHON) -m venv $(SDIST)/venv
	$(SDIST)/venv/bin/pip install --quiet $(SDIST)/riparian-*.tar.gz 'pytest>=8.2' hypothesis

.PHONY: sdist
sdist: sdist-installed ## pack the source, install that in an environment of its own, and try it there
	cd $(SDIST)/source && ../venv/bin/python -m pytest -p no:cacheprovider @tests/smoke.txt

.PHONY: sdist-full
sdist-full: sdist-installed ## the same, with all of the tests
	$(SDIST)/venv/bin/pip install --quiet "$$(echo $(SDIST)/riparian-*.tar.gz)[dev]" $(SDIST)/source/experiments
	cd $(SDIST)/source && ../venv/bin/python -m pytest -p no:cacheprovider tests experiments/tests --pyargs riparian

WHEEL := build/wheel
# Only the new environment is on the path, so anything that needs a compiler fails.
WITHOUT_COMPILER = env PATH='$(abspath $(WHEEL)/venv/bin)' CC=/bin/false CXX=/bin/false

.PHONY: wheel
wheel: venv ## build a wheel, install it in an environment without a compiler, and try it there
	rm -rf $(WHEEL)
	$(BIN)/pip wheel --quiet --no-build-isolation --no-deps --wheel-dir $(WHEEL) .
	$(PYTHON) -m venv $(WHEEL)/venv
	$(WITHOUT_COMPILER) pip install --quiet --only-binary :all: $(WHEEL)/riparian-*.whl 'pytest>=8.2' hypothesis
	$(WITHOUT_COMPILER) python -m pytest -p no:cacheprovider tests/project/wheel.py @tests/smoke.txt

.PHONY: aarch64
aarch64: venv ## on Debian: cross-compile for 64-bit ARM, and run the smoke tests under qemu
	bash .ci/aarch64

.PHONY: check
check: test lint types sanitize threads failures fuzz docs sdist wheel ## the full check: what CI runs

# What the environment holds, without riparian itself.
.PHONY: constraints
constraints: venv ## write constraints.txt: the versions in .venv
	$(BIN)/pip freeze --exclude-editable --exclude riparian > constraints.txt

.PHONY: bench
bench: venv ## compare ours with the peers: few streams, and short ones
	$(BIN)/python -m benchmarks.compare --quick --jobs 2 --out benchmarks/record/compare-quick.json

.PHONY: bench-full
bench-full: venv ## the same on all streams, one process at a time: two hours (RIPARIAN_DATA names more data)
	$(BIN)/python -m benchmarks.compare --out benchmarks/record/compare.json

.PHONY: bench-drift
bench-drift: venv ## measure forests on streams that change, point by point: hours, and it can be stopped
	$(BIN)/python -m benchmarks.drift --out benchmarks/record/drift.json
	$(BIN)/python -m benchmarks.drift_standings benchmarks/record/drift.json

.PHONY: bench-accuracy
bench-accuracy: venv ## measure our accuracy against time again, next to the peers of bench-full: minutes
	$(BIN)/python -m benchmarks.accuracy --out benchmarks/record/accuracy.json \
		--page docs/compare.md --figures docs/figures

.PHONY: bench-numbers
bench-numbers: venv ## compare forests for numbers with their peers: an hour, and it can be stopped
	$(BIN)/python -m benchmarks.numbers --out benchmarks/record/numbers.json
	$(BIN)/python -m benchmarks.number_standings benchmarks/record/numbers.json --page docs/compare.md

.PHONY: bench-engines
bench-engines: venv ## measure what the engines cost on the workloads (RIPARIAN_DATA names more data)
	$(BIN)/python -m benchmarks.run --out benchmarks/record/engines.json

.PHONY: bench-growth
bench-growth: venv ## measure how the cost of a point grows with points, dims, classes, trees, fringe
	$(BIN)/python -m benchmarks.growth --out benchmarks/record/growth.json --figures docs/figures

.PHONY: clean
clean: ## remove everything that was made
	rm -rf $(VENV) build dist .pytest_cache .hypothesis .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
