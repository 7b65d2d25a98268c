# Everything a developer does, from a fresh clone. `make help` lists it.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS += --no-builtin-rules
.DEFAULT_GOAL := help

# Started as modules: the path of a checkout may be too long, or too odd, for a script's first line.
PYTHON := .venv/bin/python
# Every lane ends with its slowest tests.
PYTEST := $(PYTHON) -m pytest --durations=15 --durations-min=1
WORKERS ?= 2

# Python compiles what is imported when it is: of thousands of modules a tenth. It keeps what it
# compiled, also where the environment forbids that, as containers' do: tests start many processes,
# each of which would compile all again.
export PYTHONDONTWRITEBYTECODE :=
# What mypy found out about sources that have not changed holds in every clone.
export MYPY_CACHE_DIR ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/evenkeel/mypy

# What the environments are made with. It takes a mirror of the package index from where pip takes it,
# and believes the certificates that the system believes.
UV := .venv-uv/bin/uv
export UV_DEFAULT_INDEX ?= $(or $(PIP_INDEX_URL),https://pypi.org/simple)
export UV_SYSTEM_CERTS ?= true
export UV_HTTP_TIMEOUT ?= 180

# The tests on a real control plane mostly wait for it: more of them than cores. But each computes a
# little while it waits, too, and takes 0.5 GB.
CONTROL_PLANES ?= 3

# Where the tests are that need one. To collect all others too takes each of these processes longer
# than to start an API server.
ON_CONTROL_PLANES := tests/contract tests/e2e tests/stories/attacks

# Another Kubernetes version for test-on: 1.33.5, or 1.33 for its newest patch.
KUBE ?=

# Every branch of the decisions has to be run by their own tests, those with hypothesis not counted: to
# trace these, or all other tests, would take several times as long.
DECISIONS := tests/unit/decisions tests/unit/extender/decisions tests/unit/cli/decisions
COVERAGE := --cov=evenkeel.decisions --cov=evenkeel_extender.decisions \
	--cov=evenkeel_cli.decisions --cov-branch --cov-report=term-missing:skip-covered \
	--cov-fail-under=100

# SAM and what plays AWS have environments of their own: each pins what the other does not bear.
SAM := SAM_CLI_TELEMETRY=0 PYTHON="$(CURDIR)/.venv-uv/bin/python" PATH="$(CURDIR)/.venv-sam/bin:$$PATH" .venv-sam/bin/python -m samcli

# It needs no environment, which may be under way meanwhile.
ZIP_LAYER = PYTHONPATH=src "$$(tools/find-python)" tools/zip-layer

SCRIPTS := tools/control-plane tools/krew tools/record-demo tools/release-notes tools/validate \
	tools/write-chart tools/write-policy tools/write-prices tools/write-reference tools/write-version tools/zip-layer
TYPED := layers/evenkeel/evenkeel functions src tests bench

.PHONY: help
help: ## List these targets
	@grep -hE '^[a-z-]+:.*## ' Makefile | awk -F ':.*## ' '{printf "  make %-17s %s\n", $$1, $$2}'

.PHONY: demo
demo: venv ## Show on an in-memory cluster what happens when spot nodes go
	@$(PYTHON) -m evenkeel_cli.main demo

.PHONY: venv
venv: .venv/.ready ## Make the environment in .venv, with the command .venv/bin/evenkeel

# An environment with what a file of pins has, and nothing else.
define environment
	@echo "environment: $(@D)"
	@rm -rf $(@D)
	@$(UV) venv --quiet --python .venv-uv/bin/python $(@D)
	@$(UV) pip sync --quiet --python $(@D) --require-hashes $<
endef

.venv/.ready: requirements/dev.txt pyproject.toml .venv-uv/.ready
	$(environment)
	@$(UV) pip install --quiet --python .venv --no-deps --no-build-isolation -e .
	@touch $@

.venv-uv/.ready: requirements/uv.txt tools/find-python
	@python="$$(tools/find-python)"; echo "Python: $$python"; "$$python" -m venv --clear .venv-uv
	@.venv-uv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

.PHONY: format
format: venv ## Format the code and mend what can be mended mechanically
	@$(PYTHON) -m ruff check --fix-only --quiet . $(SCRIPTS)
	@$(PYTHON) -m ruff format . $(SCRIPTS)
	@$(PYTHON) tools/write-version
	@$(PYTHON) tools/write-reference
	@$(PYTHON) tools/write-policy
	@$(PYTHON) tools/write-chart

.PHONY: lint
lint: venv ## Format, style, types, and which package imports which
	$(PYTHON) -m ruff format --check . $(SCRIPTS)
	$(PYTHON) -m ruff check . $(SCRIPTS)
	$(PYTHON) -m mypy $(TYPED)
	$(foreach script,$(SCRIPTS),$(PYTHON) -m mypy $(script) &&) true
	$(PYTHON) -c 'from importlinter.cli import lint_imports_command as lint; lint()' --no-logo

.PHONY: docs
docs: venv ## Make the documentation's site in .site, for which a warning is an error
	@rm -rf .site
	@$(PYTHON) -m sphinx -q -n -W -E docs .site
	@echo "site: .site/index.html"

.PHONY: test-simulated
test-simulated: venv ## Unit, property and contract tests; they need no cluster
	$(PYTEST) -n $(WORKERS) $(DECISIONS) $(COVERAGE)
	$(PYTEST) -n $(WORKERS) -m "not controlplane and not stack and not browser and not nightly" $(DECISIONS:%=--ignore=%)

# How many pods, and how many states of each world at most: PODS=3 STATES=100000; 0 states are all.
PODS ?= 3
STATES ?= 100000

.PHONY: walk
walk: venv ## Walk a small world's states: make walk PODS=3 STATES=100000
	@$(PYTHON) -m tests.property.walk $(PODS) $(STATES)

# Hours on two cores, and no part of test. ONLY=flows/drain takes one package, SAMPLE=20
# so many mutants of each that is sampled.
.PHONY: mutations
mutations: venv venv-mutations ## Break the code in many ways and see tests fail: ONLY=flows/drain SAMPLE=20
	$(PYTHON) -m tests.property.mutations $(ONLY)
	$(PYTHON) -m tests.mutations $(ONLY) $(if $(SAMPLE),--sample $(SAMPLE))

.PHONY: trace
trace: venv ## Follow small stories through the modules
	@$(PYTHON) -m tests.trace

.PHONY: cluster
cluster: venv ## A control plane with nodes and workloads to play with, until Ctrl-C
	@$(PYTHON) -m tests.playground

EVERY ?= 180

.PHONY: playground
playground: venv ## The same with Evenkeel on it, and a storm every three minutes: EVERY=60
	@$(PYTHON) -m tests.playground --every $(EVERY)

.PHONY: check
check: lint test-simulated ## What to run all day: lint and test-simulated

.PHONY: test
test: ## Everything: check, and test-controlplane on a control plane that is built meanwhile
	@MAKE="$(MAKE)" tools/test-lanes

.PHONY: test-controlplane
test-controlplane: venv ## Contract and end-to-end tests on a real control plane
	@$(PYTEST) -n $(CONTROL_PLANES) --dist worksteal -m "controlplane and not nightly" $(ON_CONTROL_PLANES)

# Minutes for each, and no part of test.
.PHONY: test-nightly
test-nightly: venv stack ## Storms with further trouble, the chart, slow drains, walks, worlds beside a drain, a day
	@$(PYTEST) -m nightly tests

.PHONY: stack
stack: venv-ministack venv-localstack venv-runtime venv-command build ## Build the stack, and make what its tests run on
	@$(ZIP_LAYER) .aws-sam/build/Layer

.PHONY: test-stack
test-stack: venv stack ## The built stack on ministack, and on a real control plane
	@$(PYTEST) -m "stack and not nightly" tests/stack

# Debian's Chromium, which root installs where it is missing; who is not root is told how.
.PHONY: test-browser
test-browser: venv ## The pages in headless Chromium
	@command -v chromium chromedriver >/dev/null || [ "$$(id -u)" != 0 ] || \
		{ apt-get update -qq && apt-get install -qq --no-install-recommends chromium chromium-driver; }
	@$(PYTEST) -m browser tests/browser

.PHONY: test-on
test-on: venv ## Like test-controlplane, on another Kubernetes version: make test-on KUBE=1.33.5
	@$(if $(KUBE),,$(error say which version, as in `make test-on KUBE=1.33.5`))
	@$(PYTHON) tools/control-plane --kube $(KUBE)
	@$(PYTEST) -n $(CONTROL_PLANES) --dist worksteal -m controlplane --kube $(KUBE) \
		$(ON_CONTROL_PLANES)

.PHONY: venv-sam venv-ministack venv-localstack venv-runtime venv-command venv-mutations
venv-sam: .venv-sam/.ready
venv-ministack: .venv-ministack/.ready
venv-localstack: .venv-localstack/.ready
venv-runtime: .venv-runtime/.ready
venv-command: .venv-command/.ready
venv-mutations: .venv-mutations/.ready

.venv-%/.ready: requirements/%.txt .venv-uv/.ready
	$(environment)
	@touch $@

.PHONY: validate
validate: venv-sam ## Let SAM and cfn-lint look at template.yaml, in each kind of region
	@.venv-sam/bin/python tools/validate

.PHONY: build
build: venv-sam ## Build the functions and the layer for `sam deploy`, the other way to install
	@$(SAM) build

.PHONY: layer
layer: ## Build the layer alone, into .aws-sam/layer
	@$(MAKE) --no-print-directory -f layers/evenkeel/Makefile build-Layer \
		ARTIFACTS_DIR="$(CURDIR)/.aws-sam/layer"

.PHONY: layer-zip
layer-zip: layer ## Zip the layer, for `evenkeel install` in this checkout
	@$(ZIP_LAYER) .aws-sam/layer

.PHONY: dist
dist: venv layer-zip ## Make the wheel with the layer in it, in dist/
	@$(PYTHON) -m hatchling build --target wheel

# The image itself takes Docker: `docker build .`
.PHONY: image-steps
image-steps: ## Go through the steps of the Dockerfile with the wheel of dist/, without Docker
	@tools/image-steps

# It fails without Docker: a base without a digest is none.
.PHONY: image-base
image-base: ## Print the base of the image by its digest, as Docker looks it up
	@tag=$$(sed -n 's/^ARG BASE=//p' Dockerfile) && \
		digest=$$(docker buildx imagetools inspect "$$tag" --format '{{.Manifest.Digest}}') && \
		echo "image=$$tag@$$digest"

.PHONY: chart
chart: venv ## Pack charts/evenkeel, in dist/
	@"$$($(PYTHON) tools/control-plane --helm)/helm" package charts/evenkeel --destination dist

REPOSITORY ?= OWNER/NAME

.PHONY: krew
krew: venv ## Pack kubectl's plugin for krew with the wheel of dist/: make krew REPOSITORY=OWNER/NAME
	@$(PYTHON) tools/krew $(REPOSITORY)

.PHONY: release-notes
release-notes: venv ## Write what the changelog says of a tag into dist/notes.md: make release-notes TAG=0.2.0
	@mkdir -p dist
	@$(PYTHON) tools/release-notes $(TAG) > dist/notes.md

# `$(PYTHON) -m bench --help` names the cases; docs/measurements.md shows how they are called.
.PHONY: bench-readme
bench-readme: venv ## Measure what README and docs/cost.md show, on a quiet machine: an hour
	-$(PYTHON) -m bench storm A A50 --rounds 3
	-$(PYTHON) -m bench storm A50-deletion A-deletion A-drain D
	-$(PYTHON) -m bench drainers kubectl consolidation drift
	-$(PYTHON) -m bench drainers kubectl-gated consolidation-gated drift-gated --rounds 3
	-$(PYTHON) -m bench webhook paced --rounds 3
	-$(PYTHON) -m bench gate
	-$(PYTHON) -m bench plan
	-$(PYTHON) -m bench worlds 5000
	-$(PYTHON) -m bench strangers
	-$(PYTHON) -m bench lists
	$(PYTHON) -m bench cost

.PHONY: requirements
requirements: .venv-uv/.ready ## Pin requirements/*.txt again, for all platforms
	@for lock in layer command image dev sam ministack localstack runtime mutations uv; do \
		case $$lock in \
			layer) from="--group layer" ;; \
			command) from="pyproject.toml" ;; \
			image) from="pyproject.toml --excludes requirements/image.excludes \
				--constraint requirements/command.txt" ;; \
			dev) from="pyproject.toml --group dev" ;; \
			*) from="requirements/$$lock.in" ;; \
		esac; \
		$(UV) pip compile --quiet --universal --python-version 3.13 --generate-hashes --no-header \
			--no-annotate $$from --output-file requirements/$$lock.txt; \
	done
