# Needs Python >= 3.11 and make; everything else goes into .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
Q ?= 导入流水提示 E1042 怎么办

.PHONY: ask test check bench clean

ask: $(STAMP)   ## answer a question from the shipped help centre: make ask Q="…"
	@$(BIN)/gyr-hybrid ask "$(Q)"

test: $(STAMP)  ## the whole test suite
	@$(BIN)/python -m pytest

check: $(STAMP) ## lint, format and types
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

bench: $(STAMP) ## the long measurements, each with its table: make bench DATASETS="folder …" with data sets of one's own
	@for set in $(DATASETS); do $(BIN)/gyr-hybrid eval "$$set" || exit 1; done
	@$(BIN)/python benchmarks/baseline.py
	@$(BIN)/python benchmarks/sku_e1042.py --size 5000
	@for judge in none oracle yes; do $(BIN)/python benchmarks/verification.py --split all --judge $$judge || exit 1; done
	@$(BIN)/python benchmarks/scripted_answers.py
	@for set in helpcenter novashop; do $(BIN)/python benchmarks/passages.py $$set || exit 1; done
	@$(BIN)/python benchmarks/storage.py --size 100000
	@$(BIN)/python tests/storage/crash_rounds.py --rounds 200

$(STAMP): pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing into $(VENV) …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[local,fast,dev]' -c constraints.txt
	@touch $(STAMP)

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache
