"""What the search charges for tokens and numbers, and how close two losses are that count as equal.

The prices of the final choice among formulas are in `regression/description_length`. Those here steer the search, where they are
applied millions of times: whole numbers and plain factors instead of logarithms of counts. No numba, so that Python imports it fast.
"""

# Cost of a constant in the front of a tree, in tokens: the token itself, and about three for its value, as in the choice of formulas.
NUMBER_COST = 4

# Nats per unit of cost when a program of the front competes to be varied (`rollout.pick_parent`): n rows * ln(loss) + this * cost.
PARENT_TOKEN_NATS = 1.0

# Charges when entries of the bank are compared with a goal on n rows (`spatial_index.match_entry`): the squared error grows by
# charge / n for each token of the entry and each number fitted with it. The residuals take n * ln(error) / 2 nats, so this is
# charge / 2 nats: 0.75 per token, 2.5 per number.
MATCH_TOKEN_CHARGE, MATCH_NUMBER_CHARGE = 1.5, 5.0

# A number costs ln(1 + (value / standard error)**2) / 2 nats, up to this many standard errors (`number_precision`): a number so well
# determined is there for good, and further digits cost nothing more.
MOST_ERRORS = 1e3

# Losses that differ by a smaller share belong to the same function: far above rounding error, far below what data can tell apart.
EQUAL_LOSS_SHARE = 1e-9
