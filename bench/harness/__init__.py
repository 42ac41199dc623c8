"""Measures load generators side by side; `bench/run.py` is the entry point."""
