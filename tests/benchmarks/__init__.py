"""Benchmarks: each beside its floor, interleaved in one run, printed as ratios. Nothing here is asserted by a clock.

python -m tests.benchmarks            all of them
python -m tests.benchmarks cells      one of them: cells, verdicts, imports, cards, streams
"""
