"""Planted faults: do the tests notice them?  See README.md."""
