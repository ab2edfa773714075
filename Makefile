# On a fresh Debian 12 with the Swift toolchain: `make demo` and `make test` are all there is to it.

PREFIX ?= /usr/local
SUBCOMMANDS = record attach stop measure gate watch history import report compare top view fold \
	export ship doctor
SWIFT ?= swift
BUILD_FLAGS = -c release --static-swift-stdlib
BINARY = .build/release/firstlight
STARS = Examples/StarSearcher/build
FIXTURES = .build/fixtures
# What `make test` had to try again.
REPEATS = $(CURDIR)/.build/repeats
# Where unit tests leave pages for the tests in a browser.
PAGES = $(CURDIR)/.build/pages

BUILD_PACKAGES = pkg-config make gcc g++ libdw-dev libelf-dev liblzma-dev libsqlite3-dev \
	libunwind-dev libzstd-dev zlib1g-dev libiberty-dev libxcb1-dev libxcb-res0-dev libcapstone-dev
DEMO_PACKAGES = $(BUILD_PACKAGES) libsqlite3-dev
TEST_PACKAGES = $(DEMO_PACKAGES) sqlite3 python3 perl git gdb strace golang-go musl-tools \
	binutils procps xvfb linux-perf dwz xz-utils nodejs libdebuginfod1 \
	libxml2-utils zsh fish mandoc chromium chromium-driver python3-selenium \
	prometheus prometheus-node-exporter python3-pip \
	weston libwayland-dev libwayland-bin wayland-protocols mousepad featherpad qtwayland5 slirp4netns
BENCH_PACKAGES = $(TEST_PACKAGES) google-perftools libgoogle-perftools-dev \
	systemtap-sdt-dev liblttng-ust-dev elfutils redis-server nginx-light \
	apache2-utils hyperfine util-linux llvm time
CAMPAIGN_PACKAGES = default-jdk-headless
KERNEL_PACKAGES = qemu-system-x86 cpio busybox-static

.PHONY: build demo test test-kernels campaign lint format bench fuzz install clean manual fixtures

build:
	@scripts/install-packages $(BUILD_PACKAGES)
	$(SWIFT) build $(BUILD_FLAGS) --product firstlight
	@scripts/check-area-code .build/release

demo: build
	@scripts/install-packages $(DEMO_PACKAGES)
	@$(MAKE) --no-print-directory -s -C Examples/StarSearcher
	$(BINARY) record -o .build/demo.firstlight --quiet $(STARS)/starsearcher
	$(BINARY) report .build/demo.firstlight
	$(BINARY) record -o .build/demo-mended.firstlight --quiet $(STARS)/starsearcher-mended
	$(BINARY) compare .build/demo.firstlight .build/demo-mended.firstlight

fixtures:
	@mkdir -p $(FIXTURES)
	@$(MAKE) --no-print-directory -s -C Tests/Fixtures OUT=$(CURDIR)/$(FIXTURES)
	@$(MAKE) --no-print-directory -s -C Examples/StarSearcher

# The end-to-end tests run the release binary: what is tested is what is installed. They measure,
# so nothing else runs beside them.
test:
	@scripts/install-packages $(TEST_PACKAGES)
	@$(MAKE) --no-print-directory build fixtures
	@rm -f $(REPEATS)
	REPEATS=$(REPEATS) PAGES=$(PAGES) scripts/run-tests $(SWIFT) test --skip EndToEndTests
	REPEATS=$(REPEATS) FIRSTLIGHT=$(CURDIR)/$(BINARY) FIXTURES=$(CURDIR)/$(FIXTURES) STARS=$(CURDIR)/$(STARS) \
		AGAIN="$(SWIFT) test --skip-build" \
		scripts/run-tests $(SWIFT) test --skip-build --filter EndToEndTests
	PAGES=$(PAGES) scripts/run-browser-tests $(BINARY) $(STARS)
	scripts/run-fleet-tests $(BINARY)
	REPEATS=$(REPEATS) scripts/run-launch-tests $(BINARY)
	Fuzz/run $(CURDIR)/$(BINARY) 10
	@scripts/tell-repeats $(REPEATS)

# On kernels that this machine does not run, emulated: three minutes each, and 60 MB of kernels when
# it is run first. KERNELS="linux-image-cloud-amd64 ...": Debian's packages; see scripts/test-kernels.
test-kernels: build
	@scripts/install-packages $(KERNEL_PACKAGES)
	@$(MAKE) --no-print-directory fixtures
	scripts/test-kernels $(BINARY) $(FIXTURES) $(KERNELS)

# Whether programs behave as without us, many thousand times: docs/campaign.md. Goes on where it stopped.
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

format:
	$(SWIFT) format --in-place --recursive Package.swift Sources Tests Fuzz Benchmarks Examples

# BENCH_FLAGS: see docs/benchmarks.md.
bench: build
	@scripts/install-packages $(BENCH_PACKAGES)
	@$(MAKE) --no-print-directory fixtures
	$(SWIFT) build $(BUILD_FLAGS) --product UnwindBenchmark
	$(SWIFT) build $(BUILD_FLAGS) --product SymbolicateBenchmark
	$(SWIFT) build $(BUILD_FLAGS) --product GateBenchmark
	python3 Benchmarks/bench.py $(BENCH_FLAGS) $(BINARY) $(FIXTURES)

SHARE = $(DESTDIR)$(PREFIX)/share
install: build
	install -D -m 755 $(BINARY) $(DESTDIR)$(PREFIX)/bin/firstlight
	install -d $(addprefix $(SHARE)/,man/man1 bash-completion/completions \
		zsh/site-functions fish/vendor_completions.d)
	install -m 644 docs/firstlight*.1 $(SHARE)/man/man1
	$(BINARY) --completions bash > $(SHARE)/bash-completion/completions/firstlight
	$(BINARY) --completions zsh > $(SHARE)/zsh/site-functions/_firstlight
	$(BINARY) --completions fish > $(SHARE)/fish/vendor_completions.d/firstlight.fish

# The manual pages come from the tables of subcommands and options.
manual: build
	$(BINARY) --manual-page > docs/firstlight.1
	for name in $(SUBCOMMANDS); do \
		$(BINARY) --manual-page $$name > docs/firstlight-$$name.1 || exit; done

clean:
	rm -rf .build Examples/StarSearcher/build
