"""Doors to the linked kernels, which Python cannot call directly."""

from collections.abc import Callable

from spl.kernels.runtime.compiler import kernel


def open_door(linked: Callable) -> Callable:
    """Return a kernel that does the same and can be called from Python; whole numbers must be given as such."""

    @kernel
    def door(*arguments):
        return linked(*arguments)

    return door
