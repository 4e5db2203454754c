"""Doors to the kernels that are compiled apart, which Python cannot call directly."""

from collections.abc import Callable

from spl.kernels.runtime.compiler import kernel


def open_door(kernel_apart: Callable) -> Callable:
    """Return a kernel that does the same and can be called from Python; whole numbers must be given as such."""

    @kernel
    def door(*arguments):
        return kernel_apart(*arguments)

    return door
