"""Records of arrays as kernels compiled apart take them: one pointer each, whatever they hold.

numba passes a tuple by its members, and an array has eight of them: a record of fifty arrays is four hundred arguments, in every call
and through all passes of the compiler. A reference is a pointer to the record on the stack of the caller. What it points to never
changes while it is known, and loads say so: loops over arrays of a record are compiled as if it had been passed by its members.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, lower_getattr_generic, models, register_model


class Reference(types.Type):
    """The type of a reference to a record, a named tuple."""

    def __init__(self, record):
        self.record = record
        super().__init__(f"Reference({record})")


@register_model(Reference)
class _ReferenceModel(models.PrimitiveModel):
    def __init__(self, manager, reference):
        super().__init__(manager, reference, cgutils.voidptr_t)


def passed_as(argument):
    """Return the type as which an argument reaches a kernel that is compiled apart: records with arrays go by reference."""
    return Reference(argument) if _has_arrays(argument) else argument


def _has_arrays(argument):
    if not isinstance(argument, types.BaseNamedTuple):
        return False
    return any(isinstance(member, types.Array) or _has_arrays(member) for member in argument)


def refer(builder, value):
    """Emit a pointer to a record, which lies on the stack of the function."""
    return builder.bitcast(cgutils.alloca_once_value(builder, value), cgutils.voidptr_t)


@infer_getattr
class _ReferenceAttribute(AttributeTemplate):
    key = Reference

    def generic_resolve(self, reference, name):
        if name in reference.record.fields:
            return passed_as(_member(reference, name)[1])
        return None


def _member(reference, name):
    place = reference.record.fields.index(name)
    return place, reference.record[place]


@lower_getattr_generic(Reference)
def _get_member(context, builder, reference, pointer, name):
    place, member = _member(reference, name)
    record = builder.bitcast(pointer, context.get_value_type(reference.record).as_pointer())
    at = cgutils.gep_inbounds(builder, record, 0, place)
    if isinstance(passed_as(member), Reference):
        return builder.bitcast(at, cgutils.voidptr_t)
    return _load(builder, at)


def _load(builder, at):
    """Load a value member by member: LLVM takes a load of many at once apart, and forgets that it never changes."""
    layout = at.type.pointee
    if not isinstance(layout, ir.LiteralStructType | ir.ArrayType):
        loaded = builder.load(at)
        loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
        return loaded
    value = ir.Constant(layout, ir.Undefined)
    for place in range(len(layout)):
        value = builder.insert_value(value, _load(builder, cgutils.gep_inbounds(builder, at, 0, place)), place)
    return value
