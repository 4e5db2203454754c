"""Two small linked kernels, one of which calls the other, for the tests of units and of building them."""

from spl.kernels.runtime.linking import linked_kernel


@linked_kernel
def add_one(x) -> float:
    return x + 1.0


@linked_kernel
def add_two(x) -> float:
    return add_one(add_one(x))
