"""One self-contained HTML page about a run: data, rules, front, equations, fits, code, settings.

`contents` defines what is on the page, `from_run` and `gather` fill it, `charts` draws, `page` writes the HTML.
"""
