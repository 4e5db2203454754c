"""Results and progress as text and HTML: on a terminal, in a log, in a notebook. Imports `runs`."""
