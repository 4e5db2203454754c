"""What scientists know of a law besides its data: statements about its shape, and whether a formula keeps them.

`statements` and `reading`: the small language, parsed and never evaluated. `box`: where statements hold. `jets` and `intervals`:
values and derivatives of programs, at points and over intervals. `checks` tries statements at many points, `proofs` proves them, and
`knowledge` puts it together.
"""
