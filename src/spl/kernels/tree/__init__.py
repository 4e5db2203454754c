"""The tree search: derivations, rollouts, rewards, and the closers that fill the last hole of a formula. Imports all other kernels."""
