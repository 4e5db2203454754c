"""`SPLRegressor` and `SPLDynamics`, the Python interface. They check input, call the search and return the answer. Imports `plots`."""
