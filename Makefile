# Two commands set everything up on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Many tests wait for a process of their own, so one worker more than CPUs keeps these busy.
WORKERS := $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)
PIP := $(BIN)/python -m pip install --quiet --no-warn-conflicts --constraint constraints.txt

.PHONY: demo test test-lowest test-lowest-hf test-install lint docs bench peers clean
.DELETE_ON_ERROR:

$(VENV)/ready: pyproject.toml constraints.txt requirements-samples.txt
	@echo "Setting up $(VENV) (a few minutes the first time) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) --upgrade pip
	@$(PIP) --editable '.[hf,api,mining,tables]'
	@$(PIP) --no-deps --requirement requirements-samples.txt
	@touch $@

$(VENV)/ready-dev: $(VENV)/ready
	@echo "Adding what the tests need ..."
	@$(PIP) --editable '.[hf,api,mining,tables,explain,ray,ja,web,docs,dev]'
	@touch $@

demo: $(VENV)/ready  ## audit the sample models and write tiltmeter-results/demo/audit.html
	@$(BIN)/tiltmeter audit --out tiltmeter-results/demo

# Workers share the CPUs, so each computes with one thread; what Python compiles is kept for the processes they start.
test: export OMP_NUM_THREADS = 1
test: export PYTHONDONTWRITEBYTECODE =
test: $(VENV)/ready-dev  ## lint, types, import contract, tests, doctests
	@$(MAKE) --no-print-directory lint
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

# Old torch is gigabytes, so what needs it has a target of its own. Old versions speak of their own future: their deprecations
# are no errors here.
LOWEST := .venv-lowest
RESOLUTION ?= lowest-direct
LOWEST_EXTRAS ?= mining tables api web ja
LOWEST_TESTS ?= tests/statistics tests/measures tests/readings tests/compare tests/stimuli tests/models/static tests/models/api \
	tests/views tests/run tests/mitigation tests/cli/test_app.py
LOWEST_NEEDS_TORCH := tests/readings/details/test_cabm.py tests/views/terminal/test_cabm.py
test-lowest:  ## tests against the lowest versions that pyproject.toml allows
	@$(PYTHON) -m venv --clear $(LOWEST)
	@$(LOWEST)/bin/python -m pip install --quiet uv
	@$(LOWEST)/bin/uv pip compile --quiet --resolution $(RESOLUTION) $(addprefix --extra ,$(LOWEST_EXTRAS)) \
		--python $(LOWEST)/bin/python pyproject.toml --output-file $(LOWEST)/lowest.txt
	@$(LOWEST)/bin/uv pip install --quiet --python $(LOWEST)/bin/python --requirement $(LOWEST)/lowest.txt \
		pytest hypothesis statsmodels psutil gensim regex krippendorff
	@$(LOWEST)/bin/uv pip install --quiet --python $(LOWEST)/bin/python --no-deps --editable .
	$(LOWEST)/bin/python -m pytest --override-ini filterwarnings=ignore::DeprecationWarning $(LOWEST_TESTS) \
		$(addprefix --ignore=,$(LOWEST_NEEDS_TORCH))

test-lowest-hf:  ## tests of Transformers models against the lowest versions, torch among them (6 GB)
	@$(MAKE) --no-print-directory test-lowest LOWEST=.venv-lowest-hf LOWEST_EXTRAS="hf $(LOWEST_EXTRAS)" LOWEST_NEEDS_TORCH= \
		LOWEST_TESTS="$(LOWEST_NEEDS_TORCH) tests/models tests/probes"

test-install: export TILTMETER_INSTALL = base hf all
test-install: $(VENV)/ready-dev  ## the wheel in clean environments (base, [hf], [all]), an audit in each, their sizes
	$(BIN)/python -m pytest tests/test_install.py -s

lint: $(VENV)/ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Notebooks are run in a copy, so that the site shows what they print and the repository does not keep it.
docs: export NO_MKDOCS_2_WARNING = 1
# Notebooks call tiltmeter as a command.
docs: export PATH := $(CURDIR)/$(BIN):$(PATH)
docs: $(VENV)/ready-dev  ## the documentation site, in site/
	@rm -rf site-sources && cp -r docs site-sources
	$(BIN)/jupyter execute --inplace site-sources/*.ipynb site-sources/*/*.ipynb
	TILTMETER_DOCS=site-sources $(BIN)/mkdocs build
	@rm -rf site-sources

bench: $(VENV)/ready-dev  ## speed against the peers, measured in the same run
	$(BIN)/python benchmarks/run.py

peers: $(VENV)/ready-dev  ## differential tests against WEFE and minicons, each in an environment of its own
	$(BIN)/python benchmarks/peers.py
	$(BIN)/python benchmarks/language_peers.py
	$(BIN)/python benchmarks/mitigation_peers.py

clean:
	rm -rf $(VENV) .venv-* tiltmeter-results site site-sources .cache
