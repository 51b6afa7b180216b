# tepal: the commands of the README. CMake does the building, below build/; this file knows which
# configurations there are and installs what they need (packages.txt).

BUILD  := build
JOBS   := $(shell nproc 2>/dev/null || echo 1)
PREFIX := /usr/local
LAB    := $(BUILD)/lab
CORPUS  = $(abspath $(BUILD))/corpus
export CTEST_PARALLEL_LEVEL ?= $(JOBS)

QUIET := >/dev/null

.PHONY: all build demo test bench soak fuzz analyse report install uninstall format check-format clean help \
        packages-build packages-test redis install-redis redis-demo

all: build

help:
	@echo 'make            build the library and the command into $(BUILD)/'
	@echo 'make demo       build, then show predicted and measured errors on generated keys'
	@echo 'make test       build and test everything: gcc, clang, sanitizers, threads, statistics'
	@echo 'make bench      speed as ratios to references, a packaged peer and the machine (TSV; ARGS=--json;'
	@echo '                ONLY="retouch command" for some of its programs)'
	@echo 'make soak       the long tests: 10^8 keys, filters beyond 2^32 bits'
	@echo 'make fuzz       10^6 executions of each fuzz target under sanitizers (TIME=S: S seconds of'
	@echo '                each), from a corpus that grows (CORPUS=$(BUILD)/corpus); then its coverage'
	@echo 'make analyse    the analysers of clang and gcc over the library'
	@echo 'make report     the papers made again, as one page, $(LAB)/report.html (ARGS=--full)'
	@echo 'make install    to PREFIX=$(PREFIX) (DESTDIR is respected)'
	@echo 'make uninstall  remove what install wrote with the same PREFIX and DESTDIR'
	@echo 'make redis      build the module for Redis and Valkey, $(BUILD)/tepal-redis.so'
	@echo 'make install-redis  to PREFIX/lib/redis/modules'
	@echo 'make redis-demo a server with the module on a free port, ten commands, and its end'
	@echo 'make format     clang-format over all sources'
	@echo 'make clean      remove $(BUILD)/'

packages-build:
	@scripts/install-packages build

packages-test:
	@scripts/install-packages build test

packages-soak:
	@scripts/install-packages build test soak

build: packages-build
	@cmake -S . -B $(BUILD) -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=$(PREFIX) $(QUIET)
	@cmake --build $(BUILD) --parallel $(JOBS) $(QUIET)

demo: build
	@$(BUILD)/tepal demo

test: packages-test
	@tests/run $(BUILD)

soak: packages-soak
	@cmake -S . -B $(BUILD)/release -DCMAKE_BUILD_TYPE=Release -DTEPAL_TESTS=ON -DTEPAL_WERROR=ON $(QUIET)
	@cmake --build $(BUILD)/release --parallel $(JOBS) $(QUIET)
	@tests/soak $(BUILD)/release

# All of them take half an hour: ONLY="command dedup" runs some.
ONLY ?= bars bench retouch generalized counting fingerprint yesno header recycling plan command dedup
bench: packages-test
	@cmake -S . -B $(BUILD)/bench -DCMAKE_BUILD_TYPE=Release -DTEPAL_BENCH=ON $(QUIET)
	@cmake --build $(BUILD)/bench --parallel $(JOBS) $(QUIET)
	@for name in $(ONLY); do case "$$name $(ARGS)" in \
		bars*|bench*) $(BUILD)/bench/tepal_$$name $(ARGS) ;; \
		command*--json*|dedup*--json*) ;; \
		command*--quick*) bench/command.sh $(BUILD)/bench/tepal "" 1000000 ;; \
		dedup*--quick*) bench/dedup.sh $(BUILD)/bench/tepal --quick ;; \
		command*|dedup*) bench/$$name.sh $(BUILD)/bench/tepal ;; \
		*) $(BUILD)/bench/tepal_$${name}_bench $(ARGS) ;; esac || exit 1; done

fuzz: packages-test
	@CC=clang CXX=clang++ cmake -S . -B $(BUILD)/fuzz -DCMAKE_BUILD_TYPE=RelWithDebInfo -DTEPAL_FUZZ=ON $(QUIET)
	@cmake --build $(BUILD)/fuzz --target fuzz_targets --parallel $(JOBS) $(QUIET)
	@CORPUS=$(CORPUS) TIME=$(TIME) RUNS=$(RUNS) fuzz/run $(BUILD)/fuzz
	@CC=clang CXX=clang++ cmake -S . -B $(BUILD)/coverage -DCMAKE_BUILD_TYPE=None -DTEPAL_FUZZ=ON \
		-DTEPAL_FUZZ_COVERAGE=ON $(QUIET)
	@cmake --build $(BUILD)/coverage --target fuzz_targets --parallel $(JOBS) $(QUIET)
	@CORPUS=$(CORPUS) fuzz/coverage $(BUILD)/coverage

analyse: packages-test
	@scripts/analyse $(BUILD)/analyse

# A run with rows that differ ends with 1: they are in the report too.
report: build
	@$(BUILD)/tepal lab run --all --seed 1 $(ARGS) --out $(LAB) $(QUIET) || [ $$? -eq 1 ]
	@$(BUILD)/tepal lab report $(LAB)

install: build
	@cmake --install $(BUILD) --prefix $(PREFIX)
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" -eq 0 ]; then ldconfig; fi

redis: packages-build
	@cmake -S . -B $(BUILD) -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=$(PREFIX) $(QUIET)
	@cmake --build $(BUILD) --parallel $(JOBS) --target tepal_redis $(QUIET)

install-redis: redis
	@cmake --install $(BUILD) --prefix $(PREFIX) --component redis

redis-demo: redis packages-test
	@cmake --build $(BUILD) --parallel $(JOBS) --target tepal $(QUIET)
	@servers/redis/demo $(BUILD)/tepal-redis.so $(BUILD)/tepal

# What install writes is seen by installing once more, below $(BUILD).
STAGED := $(BUILD)/uninstall
uninstall: build
	@rm -rf $(STAGED)
	@DESTDIR=$(abspath $(STAGED)) cmake --install $(BUILD) --prefix $(PREFIX) $(QUIET)
	@scripts/remove-like $(abspath $(STAGED)) "$(DESTDIR)" "$(PREFIX)"
	@rm -rf $(STAGED)
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" -eq 0 ]; then ldconfig; fi

SOURCES = $(shell git ls-files '*.c' '*.h' '*.cpp')

format: packages-test
	@clang-format -i $(SOURCES)

check-format: packages-test
	@clang-format --dry-run -Werror $(SOURCES)

clean:
	@rm -rf $(BUILD)
