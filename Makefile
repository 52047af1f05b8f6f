# Every command that a person needs. `make` alone lists them.

PYTHON ?= python3
VENV := .venv
JAVA := target/java-is-installed
CLIENT := clients/typescript
PNPM := npx --yes pnpm@10 --dir $(CLIENT)
MCP := conformance/mcp
SAMPLE := crates/recount-cli/samples/weather.jsonl
# What is left out by default, and tested all the same.
FEATURES := --features recount/agent,recount-agent/builtin,recount-agent/mcp
# How long each fuzz target runs, in seconds.
FUZZ_SECONDS ?= 60
FUZZ_TARGETS := event_decode message_decode fold json_scanner dialect_java dialect_java1 dialect_typescript \
	openai_decode responses_decode anthropic_decode gemini_decode ollama_decode arguments shell
# How many generated lines the published Python package judges.
CONFORMANCE_STREAMS ?= 400
# How many simulations of the log are run, of 200 steps each.
SOAK_SEEDS ?= 5000
# How many random lives of an agent are lived.
SOAK_LIVES ?= 10000
# How many times a process is killed.
CHAOS_ROUNDS ?= 200

.DEFAULT_GOAL := help
.PHONY: help run test lint rust-test client-test conformance python-conformance java-conformance conformance-record \
	bench fuzz soak chaos clean

help: ## List the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 22

run: ## Fold a sample stream into messages, and show them
	@echo '# recount show $(SAMPLE)'
	@cargo run --quiet --package recount-cli -- show $(SAMPLE)
	@echo
	@echo '# recount fold $(SAMPLE)'
	@cargo run --quiet --package recount-cli -- fold $(SAMPLE)

test: lint rust-test client-test conformance ## Everything that must hold: lints, tests, and the live peers

lint: ## Formatting, lints, documentation
	cargo fmt --all --check
	cargo clippy --workspace --all-targets $(FEATURES) --quiet -- --deny warnings
	RUSTDOCFLAGS='--deny warnings' cargo doc --no-deps --document-private-items $(FEATURES) --quiet

rust-test: $(MCP)/node_modules/installed ## The Rust tests, the laws and the fuzz corpora among them
	cargo test --quiet $(FEATURES)

$(MCP)/node_modules/installed: $(MCP)/package.json $(MCP)/pnpm-lock.yaml
	npx --yes pnpm@10 --dir $(MCP) install --frozen-lockfile
	touch $@

$(CLIENT)/node_modules/installed: $(CLIENT)/package.json $(CLIENT)/pnpm-lock.yaml
	$(PNPM) install --frozen-lockfile
	touch $@

client-test: $(CLIENT)/node_modules/installed ## The TypeScript client: build, lint, and the same answers as Rust's
	cargo build --quiet --package recount-cli --package recount-testkit
	$(PNPM) build
	$(PNPM) lint
	$(PNPM) test

$(VENV)/installed: conformance/python/requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --requirement $<
	touch $@

conformance: python-conformance java-conformance ## Ask the published peers again, and let them judge what Recount writes

python-conformance: $(VENV)/installed ## The same for AgentScope Python alone
	$(VENV)/bin/python conformance/python/record.py --check
	$(VENV)/bin/python conformance/python/formatters.py --check
	$(VENV)/bin/python conformance/python/model_requests.py --check
	$(VENV)/bin/python conformance/python/streams.py --check
	$(VENV)/bin/python conformance/python/agents.py --check
	for kind in legal messages; do \
		cargo run --quiet --package recount-testkit -- emit --kind $$kind --seed 1 --count $(CONFORMANCE_STREAMS) \
		| $(VENV)/bin/python conformance/python/verify.py || exit 1; \
	done

java-conformance: $(JAVA) ## The same for AgentScope Java alone
	conformance/java/ask record --check
	for kind in messages legal; do \
		for peer in 'java v2' 'java1 v1'; do \
			set -- $$peer && cargo run --quiet --package recount-testkit -- \
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
	$(VENV)/bin/python conformance/python/agents.py
	conformance/java/ask record

bench: $(VENV)/installed $(CLIENT)/node_modules/installed ## Measure, beside AgentScope Python, JSON.parse and bare SQLite
	cargo bench --package recount-bench
	cargo run --release --quiet --package recount-bench --bin recount-bench -- --python $(VENV)/bin/python
	$(PNPM) bench
	cargo run --release --quiet --package recount-bench --bin recount-log-bench
	cargo run --release --quiet --package recount-bench --bin recount-agent-bench -- --python $(VENV)/bin/python

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
	$(MAKE) conformance CONFORMANCE_STREAMS=20000

chaos: ## Kill a process that writes to a log, again and again, and look for what it had acknowledged
	cargo run --release --quiet --package recount-simulator -- chaos --rounds $(CHAOS_ROUNDS)

clean: ## Remove what was built and installed
	cargo clean
	rm -rf $(VENV) $(CLIENT)/node_modules $(CLIENT)/dist $(MCP)/node_modules
