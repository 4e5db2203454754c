"""Keys of equal programs: by structure, up to the order of sums and products, and by their values on a few rows."""

import numpy as np

from spl.kernels.programs.evaluate import arity_of
from spl.kernels.programs.tokens import ADD, DIV, MAX_PROGRAM_LENGTH, MUL, SUB
from spl.kernels.runtime.compiler import kernel
from spl.kernels.runtime.random import scramble

_ROUND = np.uint64(1 << 17)  # half of the last bit kept: keys hold 34 bits of the mantissa, about ten digits
_KEEP = np.uint64(18)
_NO_GROUP, _SUM_GROUP, _PRODUCT_GROUP = 0, 1, 2
_LEAF_SALT, _SUM_SALT, _PRODUCT_SALT = np.uint64(0x51ED), np.uint64(0xA0761D6478BD642F), np.uint64(0xE7037ED1A0B428DB)
_MINUS_SALT, _OVER_SALT, _ARGUMENT_SALT = np.uint64(0x8EBC6AF09C88C6E3), np.uint64(0x589965CC75374CC3), np.uint64(3)
_VALUE_SALT, _AGAIN_SALT = np.uint64(0x1D8E4E27C47D124F), np.uint64(0x2545F4914F6CDD1D)


# Scratch of one thread
KEY_WORK = np.dtype(
    [
        ("key", np.uint64, MAX_PROGRAM_LENGTH),  # a stack of the keys of finished subtrees
        ("content", np.uint64, MAX_PROGRAM_LENGTH),  # of a sum or product: the sum of its terms' keys, in any order
        ("group", np.int64, MAX_PROGRAM_LENGTH),  # whether a subtree is a sum, a product or neither
    ],
    align=True,
)


@kernel
def _term(work, at, group, salt):
    """Return the contribution of a subtree to the content of the sum or product around it."""
    return work.content[at] if work.group[at] == group else scramble(work.key[at] ^ salt)


@kernel
def structure_key(tokens, length, work):
    """Return a key that is the same for programs equal up to the order and grouping of sums and products."""
    depth = 0
    for i in range(length - 1, -1, -1):
        token = tokens[i]
        arity = arity_of(token)
        if arity == 0:
            work.key[depth] = scramble(np.uint64(token) + _LEAF_SALT)
            work.group[depth] = _NO_GROUP
            depth += 1
            continue
        a = depth - 1
        if arity == 1:
            work.key[a] = scramble(work.key[a] * _ARGUMENT_SALT + np.uint64(token))
            work.group[a] = _NO_GROUP
            continue
        b = depth - 2
        depth -= 1
        if token == ADD or token == SUB:
            right = _term(work, b, _SUM_GROUP, _SUM_SALT) if token == ADD else scramble(work.key[b] ^ _MINUS_SALT)
            work.content[b] = _term(work, a, _SUM_GROUP, _SUM_SALT) + right
            work.key[b] = scramble(work.content[b] ^ _SUM_SALT)
            work.group[b] = _SUM_GROUP
        elif token == MUL or token == DIV:
            right = (
                _term(work, b, _PRODUCT_GROUP, _PRODUCT_SALT) if token == MUL else scramble(work.key[b] ^ _OVER_SALT)
            )
            work.content[b] = _term(work, a, _PRODUCT_GROUP, _PRODUCT_SALT) + right
            work.key[b] = scramble(work.content[b] ^ _PRODUCT_SALT)
            work.group[b] = _PRODUCT_GROUP
        else:
            pair = work.key[a] * _ARGUMENT_SALT + scramble(work.key[b])
            work.key[b] = scramble(pair * _ARGUMENT_SALT + np.uint64(token))
            work.group[b] = _NO_GROUP
    return work.key[0]


@kernel
def again_key(key, k):
    """Return the key that marks the k-th repeated fit of the program with this key."""
    return scramble(key ^ (_AGAIN_SALT + np.uint64(k)))


@kernel
def value_key(values, n):
    """Return a key of the first n values, each to about ten digits. Values at a rounding boundary may get two keys."""
    key = _VALUE_SALT
    for j in range(n):
        bits = np.float64(values[j] + 0.0).view(np.uint64)  # -0 and 0 are one value
        key = scramble((key ^ ((bits + _ROUND) >> _KEEP)) + _VALUE_SALT)
    return key
