"""Figures of formulas, systems and searches in one style. They need matplotlib, from the extra `plot`."""
