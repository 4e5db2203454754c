"""One self-contained HTML page about a run: data, rules, front, equations, fits, code, settings.

`contents` says what is on the page, `gather` takes it from a run, `charts` draws, `page` writes the HTML.
"""
