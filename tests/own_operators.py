"""Operators of a user, for tests that need any: compiling one takes about a second, so tests share them."""

import numpy as np

from spl.formulas.operators import Operator

SINC = Operator("sinc", lambda x: np.sin(x) / x)
BLEND = Operator("blend", lambda a, b: np.hypot(a, b))
