"""Experiments of the paper and our own: their trials as rows of data, one runner for all, and their reports."""
