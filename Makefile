# Every command that a person needs. `make` alone lists them.

PYTHON ?= python3
VENV := .venv
JAVA := target/java-is-installed
CLIENT := clients/typescript
PNPM := npx --yes pnpm@10 --dir $(CLIENT)
WEB := web
WEB_PNPM := npx --yes pnpm@10 --dir $(WEB)
CHROMIUM := target/chromium-is-installed
NCHAN := target/nchan-is-looked-for
RIPGREP := target/ripgrep-is-installed
MCP := conformance/mcp
FRONT_ENDS := conformance/frontends
# What is left out by default, and tested all the same.
FEATURES := --features recount/agent,recount-agent/builtin,recount-agent/mcp
# What is compiled for the tests. Each other selection of packages would compile much of it again, with other features.
EVERYTHING := --workspace $(FEATURES)
# How long each fuzz target runs, in seconds.
FUZZ_SECONDS ?= 60
FUZZ_TARGETS := event_decode message_decode fold json_scanner dialect_java dialect_java1 dialect_typescript \
	openai_decode responses_decode anthropic_decode gemini_decode ollama_decode arguments shell
# How many generated lines the published Python package judges.
CONFORMANCE_STREAMS ?= 400
# How many generated streams the front ends judge. Each is read again from every event.
FRONT_END_STREAMS ?= 4
# How many simulations of the log are run, of 200 steps each.
SOAK_SEEDS ?= 5000
# How many random lives of an agent are lived.
SOAK_LIVES ?= 10000
# How many requests are generated for each route.
OPENAPI_EXAMPLES ?= 10
# How many times a process is killed.
CHAOS_ROUNDS ?= 200
# How many times readers of the service drop off.
CHAOS_DISCONNECTS ?= 100000

.DEFAULT_GOAL := help
.PHONY: help run test peers lint rust-test binaries client-test web web-test screenshots conformance python-conformance java-conformance \
	openapi-conformance front-end-conformance conformance-record bench bench-sandbox bench-server bench-server-test fuzz soak chaos clean

help: ## List the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 22

# A dev build reads the page from its files, so that both are built at the same time.
run: ## Start the service, with an agent that answers
	@echo 'Building recount and its page. This takes some minutes the first time.'
	@mkdir -p target
	@if command -v npx > /dev/null; then $(MAKE) --no-print-directory web > target/web.log 2>&1 & page=$$!; fi; \
	cargo build --package recount-cli || { [ -z "$$page" ] || kill $$page; exit 1; }; \
	[ -z "$$page" ] || wait $$page || cat target/web.log
	@exec target/debug/recount serve

# What comes over the network comes while the compiler is at work. The page is built before the tests: the service has it in it,
# and would be compiled again.
test: ## Everything that must hold: lints, tests, and the live peers
	@mkdir -p target
	@$(MAKE) --no-print-directory peers > target/peers.log 2>&1 & peers=$$!; \
	$(MAKE) --no-print-directory lint web rust-test || { kill $$peers; exit 1; }; \
	wait $$peers || { cat target/peers.log; exit 1; }
	@$(MAKE) --no-print-directory bench-server-test client-test web-test conformance

peers: $(VENV)/installed .venv-openapi/installed $(FRONT_ENDS)/node_modules/installed $(CHROMIUM) $(JAVA) ## Install what the tests run beside
	conformance/java/ask build

lint: ## Formatting, lints, documentation
	cargo fmt --all --check
	cargo clippy --workspace --all-targets $(FEATURES) --quiet -- --deny warnings
	RUSTDOCFLAGS='--deny warnings' cargo doc --no-deps --document-private-items $(FEATURES) --quiet

rust-test: $(MCP)/node_modules/installed $(RIPGREP) ## The Rust tests, the laws and the fuzz corpora among them
	cargo test --quiet $(EVERYTHING)

# The tests of the sandbox run it. Without root they report that it is missing.
$(RIPGREP):
	if ! command -v rg > /dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
		apt-get update --quiet && apt-get install --yes --quiet --no-install-recommends ripgrep; \
	fi
	mkdir -p $(@D) && touch $@

binaries: ## Build what the tests start
	cargo build --quiet $(EVERYTHING) --bins --tests

$(MCP)/node_modules/installed: $(MCP)/package.json $(MCP)/pnpm-lock.yaml
	npx --yes pnpm@10 --dir $(MCP) install --frozen-lockfile
	touch $@

$(CLIENT)/node_modules/installed: $(CLIENT)/package.json $(CLIENT)/pnpm-lock.yaml
	$(PNPM) install --frozen-lockfile
	touch $@

client-test: $(CLIENT)/node_modules/installed binaries ## The TypeScript client: build, lint, and the same answers as Rust's
	$(PNPM) build
	$(PNPM) lint
	$(PNPM) test

$(WEB)/node_modules/installed: $(WEB)/package.json $(WEB)/pnpm-lock.yaml
	$(WEB_PNPM) install --frozen-lockfile
	touch $@

web: $(WEB)/dist/index.html ## Build the page that the service shows

$(WEB)/dist/index.html: $(WEB)/node_modules/installed $(CLIENT)/node_modules/installed $(WEB)/index.html $(WEB)/vite.config.ts \
		$(shell find $(WEB)/src $(WEB)/public $(CLIENT)/src -type f)
	$(PNPM) build
	$(WEB_PNPM) build

# Where there is no Chromium, and one may install packages, it is installed.
$(CHROMIUM):
	if ! command -v chromium > /dev/null; then \
		apt-get update --quiet && apt-get install --yes --quiet --no-install-recommends chromium fonts-dejavu-core; \
	fi
	mkdir -p $(@D) && touch $@

web-test: web $(CHROMIUM) binaries ## The page: lint, its parts, and the whole of it in a browser beside the real service
	$(WEB_PNPM) lint
	$(WEB_PNPM) test
	RECOUNT_BIN=$(CURDIR)/target/debug/recount $(WEB_PNPM) e2e

screenshots: web $(CHROMIUM) binaries ## Take the pictures of the page that are in the documentation
	RECOUNT_BIN=$(CURDIR)/target/debug/recount $(WEB_PNPM) screenshots

$(VENV)/installed: conformance/python/requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --requirement $<
	touch $@

conformance: python-conformance java-conformance openapi-conformance front-end-conformance ## Ask the published peers again, and let them judge what Recount writes

python-conformance: $(VENV)/installed binaries ## The same for AgentScope Python alone
	$(VENV)/bin/python conformance/python/record.py --check
	$(VENV)/bin/python conformance/python/formatters.py --check
	$(VENV)/bin/python conformance/python/model_requests.py --check
	$(VENV)/bin/python conformance/python/streams.py --check
	$(VENV)/bin/python conformance/python/tokens.py --check
	$(VENV)/bin/python conformance/python/agents.py --check
	$(VENV)/bin/python conformance/python/forwarding.py
	for kind in legal messages; do \
		target/debug/testkit emit --kind $$kind --seed 1 --count $(CONFORMANCE_STREAMS) \
		| $(VENV)/bin/python conformance/python/verify.py || exit 1; \
	done

.venv-openapi/installed: conformance/python/requirements-openapi.txt
	$(PYTHON) -m venv .venv-openapi
	.venv-openapi/bin/pip install --quiet --disable-pip-version-check --requirement $<
	touch $@

openapi-conformance: .venv-openapi/installed binaries ## The service, held to its OpenAPI document by generated requests
	.venv-openapi/bin/python conformance/python/openapi.py $(OPENAPI_EXAMPLES)

$(FRONT_ENDS)/node_modules/installed: $(FRONT_ENDS)/package.json $(FRONT_ENDS)/pnpm-lock.yaml
	npx --yes pnpm@10 --dir $(FRONT_ENDS) install --frozen-lockfile
	touch $@

front-end-conformance: $(FRONT_ENDS)/node_modules/installed binaries ## The same for the libraries of front ends, with the real service too
	for name in ag-ui ai-sdk; do \
		RECOUNT_BIN=$(CURDIR)/target/debug/recount node $(FRONT_ENDS)/live-$$name.mjs & live="$$live $$!"; \
	done; \
	for name in ag-ui ai-sdk; do \
		( for kind in legal illegal; do \
			target/debug/testkit frames --front-end $$name --kind $$kind --seed 1 --count $(FRONT_END_STREAMS); \
		done; target/debug/testkit frames --front-end $$name --traces conformance/traces/agent.jsonl ) \
		| node $(FRONT_ENDS)/judge.mjs $$name & judging="$$judging $$!"; \
	done; \
	for one in $$live $$judging; do wait $$one || exit 1; done

java-conformance: $(JAVA) $(VENV)/installed binaries ## The same for AgentScope Java alone
	conformance/java/ask record --check
	$(VENV)/bin/python conformance/python/forwarding.py --java
	for kind in messages legal; do \
		for peer in 'java v2' 'java1 v1'; do \
			set -- $$peer && target/debug/testkit \
				emit --kind $$kind --dialect $$1 --seed 1 --count $(CONFORMANCE_STREAMS) \
			| conformance/java/ask echo $$2 > /dev/null || exit 1; \
		done \
	done

# Where there is no Java or no Maven, and one may install packages, they are installed.
$(JAVA):
	if ! command -v mvn > /dev/null || ! command -v javac > /dev/null; then \
		apt-get update --quiet && apt-get install --yes --quiet --no-install-recommends openjdk-17-jdk-headless maven; \
	fi
	mkdir -p $(@D) && touch $@

conformance-record: $(VENV)/installed $(JAVA) ## Write down anew what the peers answer
	$(VENV)/bin/python conformance/python/record.py
	$(VENV)/bin/python conformance/python/formatters.py
	$(VENV)/bin/python conformance/python/model_requests.py
	$(VENV)/bin/python conformance/python/streams.py
	$(VENV)/bin/python conformance/python/tokens.py
	$(VENV)/bin/python conformance/python/agents.py
	conformance/java/ask record

bench: $(VENV)/installed $(CLIENT)/node_modules/installed ## Measure, beside AgentScope Python, JSON.parse and bare SQLite
	cargo bench --package recount-bench
	cargo run --release --quiet --package recount-bench --bin recount-bench -- --python $(VENV)/bin/python
	$(PNPM) bench
	cargo run --release --quiet --package recount-bench --bin recount-log-bench
	cargo run --release --quiet --package recount-bench --bin recount-agent-bench -- --python $(VENV)/bin/python
	$(MAKE) --no-print-directory bench-sandbox

bench-sandbox: ## Measure what the sandbox adds to a command
	cargo build --release --quiet --package recount-cli --package recount-bench --bins
	target/release/recount-sandbox-bench --helper target/release/recount

# Where there is no nginx with Nchan, and one may install packages, they are installed. Without them there is nothing to compare with.
$(NCHAN):
	if [ ! -e /usr/lib/nginx/modules/ngx_nchan_module.so ] && [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
		apt-get update --quiet && apt-get install --yes --quiet --no-install-recommends nginx-core libnginx-mod-nchan; \
	fi
	mkdir -p $(@D) && touch $@

bench-server: $(NCHAN) ## Measure the service under load, beside Nchan
	cargo build --release --quiet --package recount-cli --package recount-bench --bins
	cargo run --release --quiet --package recount-bench --bin recount-server-bench -- --recount target/release/recount

bench-server-test: binaries ## The same in little: that it works, not how fast
	target/debug/recount-server-bench --recount target/debug/recount --small

fuzz: ## Fuzz every target for a minute, with libFuzzer
	cd fuzz && for target in $(FUZZ_TARGETS); do \
		mkdir -p target/corpus/$$target && \
		cargo run --quiet --release --bin $$target -- \
			-max_total_time=$(FUZZ_SECONDS) target/corpus/$$target corpus/$$target || exit 1; \
	done

soak: $(CLIENT)/node_modules/installed ## The laws and the simulator over many more streams than `make test` has time for
	PROPTEST_CASES=20000 cargo test --release --package recount-message --test laws
	cargo build --release --quiet --package recount-cli
	RECOUNT_BIN=$(CURDIR)/target/release/recount $(PNPM) soak
	PROPTEST_CASES=20000 cargo test --release --package recount-model --test format_rules
	RECOUNT_SOAK_LIVES=$(SOAK_LIVES) cargo test --release --package recount-agent --test soak -- --nocapture
	cargo run --release --quiet --package recount-simulator -- simulate --seed 1000000 --seeds $(SOAK_SEEDS) --steps 200
	$(MAKE) conformance CONFORMANCE_STREAMS=20000 FRONT_END_STREAMS=200

chaos: ## Kill processes under load, cut off readers, again and again, and look for what was acknowledged
	RECOUNT_CRASHES=$(CHAOS_ROUNDS) cargo test --quiet $(EVERYTHING) --test cli acknowledged_events_survive_crashes -- --nocapture
	RECOUNT_DISCONNECTS=$(CHAOS_DISCONNECTS) cargo test --quiet $(EVERYTHING) --test service readers_resume_without_loss_or_duplicates -- --nocapture
	cargo run --release --quiet --package recount-simulator -- chaos --rounds $(CHAOS_ROUNDS)

clean: ## Remove what was built and installed
	cargo clean
	rm -rf $(VENV) .venv-openapi $(CLIENT)/node_modules $(CLIENT)/dist $(MCP)/node_modules $(FRONT_ENDS)/node_modules $(WEB)/node_modules
	find $(WEB)/dist -mindepth 1 ! -name .gitkeep -delete
