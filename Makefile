# On a fresh Debian 12 with the Swift toolchain: `make demo` and `make test` are all there is to it.

PREFIX ?= /usr/local
SWIFT ?= swift
# What debug information the program has: none, or dwarf, for a profiler or a debugger of Firstlight itself
# (a quarter more time, and 70 MB in place of 25).
DEBUG_INFO ?= none
# Without $ORIGIN in its RPATH: libraries beside an installed program are not looked at.
BUILD_FLAGS = -c release --disable-local-rpath -debug-info-format $(DEBUG_INFO)
# Unit tests, and what they test, are not optimised: that would take longer than it saves.
TEST_FLAGS = -c release --scratch-path .build/tests -debug-info-format $(DEBUG_INFO) \
	-Xswiftc -enable-testing -Xswiftc -Onone
BINARY = .build/release/firstlight
STARS = Examples/StarSearcher/build
FIXTURES = .build/fixtures
# The symbol cache of the end-to-end tests, empty at the beginning of each run.
CACHE = .build/test-cache
# Where unit tests leave pages for the tests in a browser.
PAGES = $(CURDIR)/.build/pages

BUILD_PACKAGES = pkg-config make gcc g++ libdw-dev libelf-dev liblzma-dev libsqlite3-dev \
	libunwind-dev libzstd-dev zlib1g-dev libiberty-dev libxcb1-dev libcapstone-dev
DEMO_PACKAGES = $(BUILD_PACKAGES) libsqlite3-dev
TEST_PACKAGES = $(DEMO_PACKAGES) sqlite3 python3 perl git gdb strace golang-go musl-tools \
	binutils procps xvfb linux-perf dwz xz-utils nodejs libdebuginfod1 \
	libxml2-utils zsh fish mandoc chromium chromium-driver python3-selenium python3-greenlet \
	prometheus prometheus-node-exporter python3-pip \
	weston libwayland-dev libwayland-bin wayland-protocols mousepad featherpad qtwayland5 slirp4netns
BENCH_PACKAGES = $(TEST_PACKAGES) google-perftools libgoogle-perftools-dev \
	systemtap-sdt-dev liblttng-ust-dev elfutils redis-server nginx-light \
	apache2-utils hyperfine util-linux llvm time
PACKAGE_PACKAGES = dpkg-dev binutils
PACKAGE_TEST_PACKAGES = lintian mmdebstrap
TARBALL_PACKAGES = $(BUILD_PACKAGES) binutils mmdebstrap libbz2-dev
TARBALL_TEST_PACKAGES = mmdebstrap
CAMPAIGN_PACKAGES = default-jdk-headless
KERNEL_PACKAGES = qemu-system-x86 cpio busybox-static

# A line for each step, its output in a file: `$(STEP) WHAT HOW-LONG LOG COMMAND...`.
STEP = @scripts/step
LOGS = .build/logs
# As a step: without the job server of the make that runs it.
MAKE_QUIETLY = env --unset=MAKEFLAGS $(MAKE) --no-print-directory --silent --jobs=2

.PHONY: build build-tests build-fuzz build-launches demo test test-units test-conditions test-program \
	test-launches test-browser test-fleet test-shipping test-store test-libraries test-install \
	test-fuzz test-truth-table test-kernels build-fixtures campaign lint format bench truth fuzz install uninstall \
	clean fixtures package test-package tarball test-tarball

build:
	@scripts/install-packages $(BUILD_PACKAGES)
	$(STEP) "building Firstlight" "4 minutes on two cores, 8 beside the tests" $(LOGS)/build.log \
		$(SWIFT) build $(BUILD_FLAGS) --product firstlight $$(scripts/link-commit .build/commit)
	@scripts/check-area-code .build/release

demo: build
	$(STEP) "building Star Searcher" "some seconds" $(LOGS)/stars.log \
		$(MAKE_QUIETLY) -C Examples/StarSearcher
	$(BINARY) record -o .build/demo.firstlight --quiet $(STARS)/starsearcher
	$(BINARY) report .build/demo.firstlight
	$(BINARY) record -o .build/demo-mended.firstlight --quiet $(STARS)/starsearcher-mended
	$(BINARY) compare .build/demo.firstlight .build/demo-mended.firstlight

fixtures:
	$(STEP) "building programs to test with" "some 20 seconds" $(LOGS)/fixtures.log \
		$(MAKE_QUIETLY) build-fixtures

build-fixtures:
	@mkdir -p $(FIXTURES)
	@$(MAKE_QUIETLY) -C Tests/Fixtures OUT=$(CURDIR)/$(FIXTURES)
	@$(MAKE_QUIETLY) -C Examples/StarSearcher

# The end-to-end tests run the release binary: what is tested is what is installed. Nothing is
# compared with a clock here (`make truth` does that), and nothing is tried again.
TESTS_ASIDE = test-shipping test-browser test-store test-fuzz test-fleet test-libraries test-install \
	test-truth-table
test:
	@scripts/install-packages $(TEST_PACKAGES)
	@$(MAKE) --no-print-directory --jobs=2 build build-tests build-fuzz build-launches fixtures
	@$(MAKE) --no-print-directory --jobs=2 test-units test-conditions
	@$(MAKE) --no-print-directory test-program
	@$(MAKE) --no-print-directory test-launches
	@$(MAKE) --no-print-directory --jobs=$$(nproc) $(TESTS_ASIDE)

build-tests:
	$(STEP) "building the tests" "some 11 minutes on two cores" $(LOGS)/build-tests.log \
		$(SWIFT) build $(TEST_FLAGS) --build-tests

build-fuzz:
	$(STEP) "building what is fuzzed" "some 3 minutes" $(LOGS)/build-fuzz.log \
		Fuzz/build $(CURDIR)/.build/fuzz quick

# An example's tests, a package of their own.
build-launches:
	$(STEP) "building the example of launch tests" "some 20 seconds" $(LOGS)/build-launches.log \
		scripts/run-launch-tests --build

# The parts of `make test`, one by one: what they need must be built and installed.
test-units:
	@PAGES=$(PAGES) scripts/step "testing each module" "some 4 minutes" $(LOGS)/test-units.log \
		$(SWIFT) test $(TEST_FLAGS) --skip-build --ignore-lock \
		--skip EndToEndTests --skip LaunchedTests --skip TruthTests

# Slow links and disks, one after the other: they wait, most of the time, and may do so beside others
# (SwiftPM's lock is for who builds).
test-conditions:
	$(STEP) "testing slow links and disks" "some 2 minutes" $(LOGS)/test-conditions.log \
		$(SWIFT) test $(TEST_FLAGS) --skip-build --ignore-lock --filter LaunchedTests

test-program:
	@rm -rf $(CACHE) && mkdir -m 700 $(CACHE)
	@FIRSTLIGHT=$(CURDIR)/$(BINARY) FIXTURES=$(CURDIR)/$(FIXTURES) STARS=$(CURDIR)/$(STARS) \
		TEST_CACHE=$(CURDIR)/$(CACHE) scripts/step "testing the program" "some 6 minutes" $(LOGS)/test-program.log \
		$(SWIFT) test $(TEST_FLAGS) --skip-build --filter '^EndToEndTests\.'

test-launches:
	$(STEP) "testing the example of launch tests" "some 20 seconds" $(LOGS)/test-launches.log \
		scripts/run-launch-tests $(BINARY)

# Shows the pages that test-units has written, too.
test-browser:
	@PAGES=$(PAGES) scripts/step "testing pages in a browser" "some 2 minutes" \
		$(LOGS)/test-browser.log scripts/run-browser-tests $(BINARY) $(STARS)

# What is sent to a store, and what a store answers: in two parts, so that they run beside each other.
test-shipping:
	$(STEP) "testing what is sent to a store" "some 2 minutes" $(LOGS)/test-shipping.log \
		scripts/run-fleet-tests $(BINARY) test_ship

test-store:
	$(STEP) "testing what a store answers" "some 2 minutes" $(LOGS)/test-store.log \
		scripts/run-fleet-tests $(BINARY) test_store

test-fleet:
	$(STEP) "testing what monitoring is told" "some 2 minutes" $(LOGS)/test-fleet.log \
		scripts/run-fleet-tests $(BINARY) $(filter-out test_ship test_store, \
		$(patsubst Tests/Fleet/%.py,%,$(wildcard Tests/Fleet/test_*.py)))

test-libraries:
	$(STEP) "testing the libraries by themselves" "some 20 seconds" $(LOGS)/test-libraries.log \
		scripts/run-library-tests

test-install:
	$(STEP) "testing install and uninstall" "some seconds" $(LOGS)/test-install.log \
		scripts/run-install-tests $(BINARY)

test-fuzz:
	@FUZZ_BUILD=quick scripts/step "fuzzing, 5 seconds each" "some 30 seconds" \
		$(LOGS)/test-fuzz.log Fuzz/run $(CURDIR)/$(BINARY) 5

# What `make truth` decides, by made figures.
test-truth-table:
	$(STEP) "testing the table of make truth" "some seconds" $(LOGS)/test-truth-table.log \
		python3 -m unittest discover -s Tests/Truth

# On kernels that this machine does not run, emulated: three minutes each, and 60 MB of kernels when
# it is run first. KERNELS="linux-image-cloud-amd64 ...": Debian's packages; see scripts/test-kernels.
test-kernels: build
	@scripts/install-packages $(KERNEL_PACKAGES)
	@$(MAKE) --no-print-directory fixtures
	scripts/test-kernels $(BINARY) $(FIXTURES) $(KERNELS)

# Whether programs behave as without us, many thousand times, in five parts (runs, cycles, kills, limits,
# harm): docs/campaign.md. Goes on where it stopped.
CAMPAIGN_FLAGS ?=
campaign: build
	@scripts/install-packages $(BENCH_PACKAGES) $(CAMPAIGN_PACKAGES)
	@$(MAKE) --no-print-directory fixtures
	python3 Tests/Campaign/campaign.py $(CAMPAIGN_FLAGS) $(BINARY) $(FIXTURES)

# Mutated files against everything that reads files: docs/fuzzing.md.
FUZZ_SECONDS ?= 600
fuzz: build
	Fuzz/run $(CURDIR)/$(BINARY) $(FUZZ_SECONDS) $(FUZZ_TARGETS)

lint:
	$(SWIFT) format lint --strict --recursive Package.swift Sources Tests Fuzz Benchmarks Examples
	scripts/check-documents

format:
	$(SWIFT) format --in-place --recursive Package.swift Sources Tests Fuzz Benchmarks Examples

# BENCH_FLAGS: see docs/benchmarks.md.
bench: build
	@scripts/install-packages $(BENCH_PACKAGES)
	@$(MAKE) --no-print-directory fixtures
	FIRSTLIGHT_BENCH=1 $(SWIFT) build $(BUILD_FLAGS) --product UnwindBenchmark
	FIRSTLIGHT_BENCH=1 $(SWIFT) build $(BUILD_FLAGS) --product SymbolicateBenchmark
	FIRSTLIGHT_BENCH=1 $(SWIFT) build $(BUILD_FLAGS) --product GateBenchmark
	python3 Benchmarks/bench.py $(BENCH_FLAGS) $(BINARY) $(FIXTURES)

# Sampled figures against clocks and other tools, one case after the other, and a table of them. Its
# recipe ends with 1 where a figure is off, with 3 where the machine was too busy to tell (make then says
# "Error 3").
truth: build
	@scripts/install-packages $(TEST_PACKAGES)
	@$(MAKE) --no-print-directory build-tests fixtures
	@FIRSTLIGHT=$(CURDIR)/$(BINARY) FIXTURES=$(CURDIR)/$(FIXTURES) STARS=$(CURDIR)/$(STARS) \
		scripts/run-truth $(SWIFT) test $(TEST_FLAGS)

install: build
	packaging/install $(BINARY) $(PREFIX) $(DESTDIR)

uninstall:
	packaging/uninstall $(PREFIX) $(DESTDIR)

# For the release of Debian or Ubuntu on which it is built.
package: build
	@scripts/install-packages $(PACKAGE_PACKAGES)
	@rm -rf .build/package
	packaging/debian/build $(BINARY) .build/package

# In a clean root, as root: two minutes, and 100 MB from the release's mirror.
test-package: package
	@scripts/install-packages $(PACKAGE_TEST_PACKAGES)
	scripts/run-package-tests .build/package/*.deb

# For x86-64 Linux with glibc 2.30 or later. It has a build folder of its own, because the ordinary
# one has the binary that tests run.
tarball:
	@scripts/install-packages $(TARBALL_PACKAGES)
	flags=$$(packaging/tarball/link-folder .build/portable/link) && \
		$(SWIFT) build $(BUILD_FLAGS) --scratch-path .build/portable --product firstlight \
			$$(scripts/link-commit .build/commit) $$flags
	@scripts/check-area-code .build/portable/release
	@rm -rf .build/tarball
	packaging/tarball/build .build/portable/release/firstlight .build/tarball

# In clean roots of other releases, as root: half a minute each, and 40 MB from the release's mirror.
# RELEASES="bookworm ...": those.
test-tarball: tarball
	@scripts/install-packages $(TARBALL_TEST_PACKAGES)
	scripts/run-tarball-tests .build/tarball/*.tar.gz $(RELEASES)

clean:
	rm -rf .build Examples/StarSearcher/build
