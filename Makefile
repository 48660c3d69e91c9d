# One target per job; each first makes .venv when it is missing or older than what it is made from.
PYTHON ?= python3
VENV := .venv
RIVALS := .rivals
TRACKERS := .trackers
BIN := $(VENV)/bin
export OMP_NUM_THREADS ?= 1
# two processes; the tests of a file stay together, because they share what was trained for them
PYTEST := scripts/with-postgres $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder --durations 10

.PHONY: setup demo test test-all test-slow test-browser test-ray test-flower test-trackers test-arithmetic test-device lint format bench bench-rivals docs site golden kill-test study study-rec package try-wheel test-package release clean

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,postgres]'
	touch $@

demo: setup            ## three stories on embedded data: any skew, a policy healed, a run killed and resumed
	$(BIN)/equipoise demo

test: setup            ## every test that takes seconds; SQLite, and PostgreSQL where its server is installed
	$(PYTEST)

test-all: setup        ## the slow ones too
	$(PYTEST) -m 'not ray and not flower and not trackers'
	$(MAKE) test-ray test-flower test-trackers

test-ray: setup        ## on Ray clusters that the tests start and kill; installs the extra
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,postgres,ray]'
	$(BIN)/python -m pytest -m ray --durations 10 tests/cluster

MACHINES ?= flower
test-flower: setup     ## a server and machines with their own data, as processes; installs the extra
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,postgres,flower]'
	$(BIN)/python -m pytest -m $(MACHINES) --durations 10 tests/flower

test-trackers: setup $(TRACKERS)/.ready  ## against a real MLflow server, which has an environment of its own
	$(BIN)/python -m pytest -m trackers --durations 10 tests/trackers

# the version of the client in constraints.txt; the server wants other versions of its own packages than those pinned there
$(TRACKERS)/.ready: constraints.txt
	$(PYTHON) -m venv $(TRACKERS)
	$(TRACKERS)/bin/python -m pip install --quiet --disable-pip-version-check \
	  $$(sed -n 's/^mlflow-skinny==/mlflow==/p' constraints.txt)
	touch $@

test-slow: setup       ## the slow ones alone
	$(PYTEST) -m 'slow and not long and not flower and not trackers'

test-browser: setup    ## the dashboard in Chromium while runs go on, and the built site; minutes
	$(BIN)/python -m pytest -m browser --durations 10 tests/e2e/test_dashboard.py tests/site

test-arithmetic: setup ## what computes, once more as another processor would: other kernels, other orders of summation
	ATEN_CPU_CAPABILITY=default ONEDNN_MAX_CPU_ISA=AVX2 MKL_CBWR=COMPATIBLE \
	  $(PYTEST) tests/golden tests/contract tests/unit/run/test_loop.py tests/unit/run/test_advance.py tests/unit/kind/samples
	EQUIPOISE_TEST_THREADS=2 OMP_NUM_THREADS=2 $(PYTEST) -n 1 tests/golden tests/unit/run/test_loop.py tests/unit/run/test_advance.py tests/unit/kind/samples

test-device: setup     ## contract, golden, resume and end-to-end tests on the simulated device; needs g++
	EQUIPOISE_TEST_DEVICE=sim $(PYTEST) tests/contract tests/golden tests/unit/run tests/e2e \
	  $(addprefix --ignore=tests/e2e/test_,completion.py serve.py report.py event_files.py)  # no device is used there

lint: setup            ## ruff, mypy strict, import layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: setup           ## ratios measured side by side in one run
	$(BIN)/equipoise bench

bench-rivals: $(RIVALS)/.ready  ## against pfl-research and Flower, which want older packages: in an environment of their own
	$(RIVALS)/bin/python -m scripts.rivals cohort tiny

$(RIVALS)/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(RIVALS)
	$(RIVALS)/bin/python -m pip install --quiet --disable-pip-version-check \
	  $$(grep -E '^(torch|numpy)==' constraints.txt) pfl==0.6.0 'flwr[simulation]==1.41.0' -e .
	touch $@

docs: setup            ## write docs/reference and the picture of the rooms from the code
	$(BIN)/python scripts/write_reference.py
	$(BIN)/python -m scripts.draw_house

site: setup            ## the documentation as a site in site/<version>/, older versions stay; checks every link
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,postgres,docs]'
	$(BIN)/python -m scripts.website

golden: setup          ## rewrite the golden curves; review the diff, note it under "Numbers"
	$(BIN)/python -m pytest tests/golden --rewrite-golden

kill-test: setup       ## kill -9 a run twenty times, resume, compare to the last bit
	$(BIN)/python scripts/kill_test.py --times 20

study: setup           ## train the study of the original reports (hours; resumable) and write docs/results
	$(BIN)/python -m scripts.study

study-rec: setup       ## the same for the recommender (hours; resumable)
	$(BIN)/python -m scripts.study --only recommendation feddmmr-fixes drift recommendation-everybody drift-movielens --store runs/study-rec.db

package: setup         ## wheel and source distribution in dist/, checked as an index would check them
	rm -f dist/equipoise-*
	$(BIN)/python -m build --no-isolation --outdir dist .
	$(BIN)/python -m twine check --strict dist/*

PYTHONS ?=
EXTRAS ?=
SEEDS ?= 3
try-wheel: package     ## install the wheel by name into an empty environment, and run doctor and demo from it
	$(BIN)/python -m scripts.try_wheel --extras '$(EXTRAS)' --seeds $(SEEDS) $(if $(PYTHONS),--pythons $(PYTHONS))

test-package: setup    ## what the packages contain, a release in a clone, the wheel in an empty environment
	$(BIN)/python -m pytest -m package --durations 10 tests/package

VERSION ?=
DRY ?= 1
release: setup         ## make release VERSION=1.2.3: what would happen; with DRY= it happens: notes, tag and packages, nothing sent
	$(BIN)/python -m scripts.release '$(VERSION)' $(if $(DRY),--dry-run)

clean:
	rm -rf $(VENV) $(RIVALS) $(TRACKERS) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
