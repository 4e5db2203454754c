"""Operators of a user, for tests that need any: compiling one takes about a second, so tests share them."""

import numpy as np

from spl.formulas.operators import Operator

SINC = Operator("sinc", lambda x: np.sin(x) / x)
BLEND = Operator("blend", lambda a, b: np.hypot(a, b))
ROOT = Operator("root", lambda a: np.sqrt(a - 10), lambda a: 0.5 / np.sqrt(a - 10), cost=3)
