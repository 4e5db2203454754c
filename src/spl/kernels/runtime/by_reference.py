"""How linked kernels take records of arrays: as one pointer per record.

numba passes a tuple by its members, and an array has eight of them: a record of fifty arrays is four hundred arguments, in every call
and through all passes of the compiler. A reference is a pointer to the record on the stack of the caller. The record never changes
while a reference to it exists, and loads are marked so: loops over its arrays compile to the same code as with arrays as arguments.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, lower_getattr_generic, models, register_model


class RecordReference(types.Type):
    """The type of a reference to a record, a named tuple."""

    def __init__(self, record):
        self.record = record
        super().__init__(f"Reference({record})")

    @property
    def key(self):
        """What tells types apart: names of members do, and are not in the name of the type."""
        return self.record


@register_model(RecordReference)
class _RecordReferenceModel(models.PrimitiveModel):
    def __init__(self, manager, reference):
        super().__init__(manager, reference, cgutils.voidptr_t)


def linked_type(argument):
    """Return the type of an argument inside a linked kernel: records with arrays are passed by reference."""
    return RecordReference(argument) if _has_arrays(argument) else argument


def _has_arrays(argument):
    if not isinstance(argument, types.BaseNamedTuple):
        return False
    return any(isinstance(member, types.Array) or _has_arrays(member) for member in argument)


def emit_reference(builder, value):
    """Emit a pointer to a copy of the record on the stack of the function."""
    return builder.bitcast(cgutils.alloca_once_value(builder, value), cgutils.voidptr_t)


@infer_getattr
class _RecordReferenceAttribute(AttributeTemplate):
    key = RecordReference

    def generic_resolve(self, reference, name):
        if name in reference.record.fields:
            return linked_type(_member(reference, name)[1])
        return None


def _member(reference, name):
    place = reference.record.fields.index(name)
    return place, reference.record[place]


@lower_getattr_generic(RecordReference)
def _get_member(context, builder, reference, pointer, name):
    place, member = _member(reference, name)
    record = builder.bitcast(pointer, context.get_value_type(reference.record).as_pointer())
    at = cgutils.gep_inbounds(builder, record, 0, place)
    if isinstance(linked_type(member), RecordReference):
        return builder.bitcast(at, cgutils.voidptr_t)
    return _load(builder, at)


def _load(builder, at):
    """Load a value member by member: LLVM splits a load of many at once, and forgets that it never changes."""
    layout = at.type.pointee
    if not isinstance(layout, ir.LiteralStructType | ir.ArrayType):
        loaded = builder.load(at)
        loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
        return loaded
    value = ir.Constant(layout, ir.Undefined)
    for place in range(len(layout)):
        value = builder.insert_value(value, _load(builder, cgutils.gep_inbounds(builder, at, 0, place)), place)
    return value
