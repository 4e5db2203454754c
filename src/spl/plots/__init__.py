"""Figures of what was found, one file a subject, one style for all. They need matplotlib, the extra `plot`."""
