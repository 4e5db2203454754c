"""From trajectories to the equations of a system.

`discover` is the table of contents: one regression per state (`proposals`: sums of simple terms join its front), then a choice among
whole systems (`select`). Imports `regression`.
"""
