"""The search: a tree search over derivations, random rollouts, and the closers that complete a formula. Imports all other kernels."""
