"""Figures, never tests: each module is run as `python -m benchmarks.bench_…`."""
