"""The role of each constant in its program: whether the program is affine in it, and whether others can replace it."""

from spl.kernels.programs.evaluate import arity_of
from spl.kernels.programs.tokens import ADD, CONSTANT, DIV, KIND_SHIFT, MAX_CONSTANTS, MUL, NEG, SUB
from spl.kernels.runtime.compiler import kernel
from spl.kernels.runtime.linking import linked_kernel

# Roles of a constant: the program is affine in it; it multiplies or divides another; it is inside a function; others replace it
LINEAR, FACTOR, INSIDE, FROZEN = range(4)


@kernel
def demote(work, first, last, role):
    """Raise the roles of a range of constants to at least this one; the roles are in order of difficulty."""
    for k in range(first, last):
        work.role[k] = max(work.role[k], role)


@kernel
def count_linear(work, first, last):
    """Return how many of a range of constants are linear."""
    n = 0
    for k in range(first, last):
        n += work.role[k] == LINEAR
    return n


@kernel
def join_roles(work, token, a_first, a_last, a_scales, b_first, b_last, b_scales):
    """Assign the roles of the constants of both operands of a binary operator; return whether the result can be scaled freely.

    An operand scales freely if its linear constants can multiply it as a whole. In a product with such an operand, a bare constant on
    the other side is redundant: it is frozen. Otherwise the operand with more linear constants keeps them.
    """
    if token == ADD or token == SUB:
        return a_scales == 1 and b_scales == 1
    if token == DIV:
        demote(work, b_first, b_last, FACTOR)
        return a_scales == 1
    if token != MUL:
        demote(work, a_first, b_last, INSIDE)
        return False
    if a_last == a_first + 1 and a_scales == 2 and b_scales >= 1:
        work.role[a_first] = FROZEN
    elif b_last == b_first + 1 and b_scales == 2 and a_scales >= 1:
        work.role[b_first] = FROZEN
    elif count_linear(work, b_first, b_last) >= max(count_linear(work, a_first, a_last), 1):
        demote(work, a_first, a_last, FACTOR)
        return b_scales >= 1
    else:
        demote(work, b_first, b_last, FACTOR)
        return a_scales >= 1
    return True


@linked_kernel
def assign_roles(tokens, length, work) -> bool:
    """Find the constants in which the program is jointly affine, and those that others make redundant; fill `order`.

    Frozen constants keep the value 1. Returns whether the program has at most MAX_CONSTANTS.
    """
    n_constants = 0
    for i in range(length):
        n_constants += tokens[i] >> KIND_SHIFT == CONSTANT
    if n_constants > MAX_CONSTANTS:
        return False
    # `places` holds a stack of (first, last, scales) of the constants in each finished subtree; scales is 2 for a bare constant
    places = work.places
    depth = 0
    at = n_constants
    for i in range(length - 1, -1, -1):
        token = tokens[i]
        arity = arity_of(token)
        if arity == 0:
            is_constant = token >> KIND_SHIFT == CONSTANT
            places[depth + 1] = at
            at -= is_constant
            places[depth] = at
            places[depth + 2] = 2 if is_constant else 0
            if is_constant:
                work.role[at] = LINEAR
            depth += 3
        elif arity == 1:
            if token != NEG:
                demote(work, places[depth - 3], places[depth - 2], INSIDE)
                places[depth - 1] = 0
            else:
                places[depth - 1] = min(places[depth - 1], 1)
        else:
            a, b = depth - 3, depth - 6
            scales = join_roles(
                work, token, places[a], places[a + 1], places[a + 2], places[b], places[b + 1], places[b + 2]
            )
            places[b] = places[a]
            places[b + 2] = scales
            depth -= 3
    order_constants(work, n_constants)
    return True


@kernel
def order_constants(work, n_constants):
    """Fill `order` with the linear constants, then the others, without the frozen ones; count them."""
    work.n_constants = n_constants
    work.n_fitted = 0
    for role in (LINEAR, FACTOR, INSIDE):
        for k in range(n_constants):
            if work.role[k] == role:
                work.order[work.n_fitted] = k
                work.n_fitted += 1
        if role == LINEAR:
            work.n_linear = work.n_fitted
        if role == FACTOR:
            work.n_outside = work.n_fitted
