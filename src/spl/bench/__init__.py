"""The experiments of the paper as rows of data, one runner for all of them, and their reports."""
