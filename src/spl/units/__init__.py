"""Units of measurement: what they are, which formulas they allow, and searches without dimensions.

With units, a search sees only dimensionless groups of the columns, so no formula that breaks the units can be built. The formulas it
finds are written in terms of the columns again.
"""
