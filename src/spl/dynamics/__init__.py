"""From trajectories to the equations of a system.

`discover` is the table of contents: one regression per state, then a choice among whole systems. Imports `regression`.
"""
