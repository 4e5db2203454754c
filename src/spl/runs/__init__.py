"""Searches kept in files: written while they run, read by whoever shows them, resumed after a crash. Imports `dynamics`."""
