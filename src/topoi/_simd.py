"""Kernels that need instructions which Python cannot name: vectors of sixteen lanes, and prefetch.

A sum of K numbers vectorises only if its order may change, and letting the compiler change it (`fastmath`) would make
the result depend on the processor's vector width. So the order is fixed here, once: sixteen running sums, one per
lane, topic k going to lane k mod 16. AVX2, AVX-512, NEON and plain Python all give the same bits.

Rows are padded to a multiple of `LANES` (`pad`); padded topics have prior 0, hence weight 0.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic

from topoi._jit import kernel

LANES = 16


def pad(n_topics: int) -> int:
    """Round `n_topics` up to a whole number of lanes."""
    return -(-n_topics // LANES) * LANES


@intrinsic
def _prefetch(typing_context: Any, array: Any, row: Any, column: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        from llvmlite import ir
        from numba.core import cgutils

        i32 = ir.IntType(32)
        address = builder.bitcast(_item(context, builder, signature, args), cgutils.voidptr_t)
        function_type = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, i32, i32, i32])
        function = builder.module.declare_intrinsic("llvm.prefetch", [cgutils.voidptr_t], function_type)
        builder.call(function, [address, i32(0), i32(3), i32(1)])
        return context.get_dummy_value()

    return types.void(array, row, column), codegen


def _item(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Address of array[row, column] for the three arguments (array, row, column)."""
    from numba.core import cgutils
    from numba.np.arrayobj import make_array

    array = make_array(signature.args[0])(context, builder, args[0])
    index = [context.cast(builder, v, t, types.intp) for v, t in zip(args[1:], signature.args[1:], strict=True)]
    return cgutils.get_item_pointer(context, builder, signature.args[0], array, index, wraparound=False)


@intrinsic
def _weigh(
    typing_context: Any, n_d: Any, alpha: Any, table: Any, w: Any, offset: Any, scale: Any, p: Any, lanes: Any
) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        from llvmlite import ir
        from numba.core import cgutils
        from numba.np.arrayobj import make_array

        real = signature.args[0].dtype
        scalar = context.get_value_type(real)
        vector = ir.VectorType(scalar, LANES)
        item_size = context.get_abi_sizeof(scalar)
        zero = context.get_constant(types.intp, 0)
        step = context.get_constant(types.intp, LANES)

        def data(i: int) -> Any:
            return make_array(signature.args[i])(context, builder, args[i]).data

        def address(base: Any, i: Any) -> Any:
            return builder.bitcast(builder.gep(base, [i]), vector.as_pointer())

        def load(base: Any, i: Any) -> Any:
            value = builder.load(address(base, i))
            value.align = item_size  # NumPy promises no more than the item's own alignment
            return value

        def store(value: Any, base: Any, i: Any) -> None:
            builder.store(value, address(base, i)).align = item_size

        undefined = ir.Constant(vector, ir.Undefined)
        all_zero = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        offset_scalar = context.cast(builder, args[4], signature.args[4], real)
        one_lane = builder.insert_element(undefined, offset_scalar, ir.IntType(32)(0))
        offset_vector = builder.shuffle_vector(one_lane, undefined, all_zero)

        row_signature = types.void(signature.args[2], signature.args[3], types.intp)
        row = _item(context, builder, row_signature, [args[2], args[3], zero])
        n_d_data, alpha_data, scale_data, p_data = data(0), data(1), data(5), data(6)
        (width,) = cgutils.unpack_tuple(
            builder, make_array(signature.args[6])(context, builder, args[6]).shape, count=1
        )
        total = cgutils.alloca_once(builder, vector)
        builder.store(ir.Constant(vector, [0.0] * LANES), total)
        with cgutils.for_range_slice(builder, zero, width, step, intp=zero.type) as (k, _):
            document = builder.fadd(load(n_d_data, k), load(alpha_data, k))
            word = builder.fadd(load(row, k), offset_vector)
            weight = builder.fmul(builder.fmul(document, word), load(scale_data, k))
            store(weight, p_data, k)
            builder.store(builder.fadd(builder.load(total), weight), total)
        store(builder.load(total), data(7), zero)
        return context.get_dummy_value()

    return types.void(n_d, alpha, table, w, offset, scale, p, lanes), codegen


if numba.config.DISABLE_JIT:

    def prefetch(array: Any, row: Any, column: Any) -> None:
        """Do nothing: without a compiler there is no memory latency worth hiding."""

    def weigh(n_d: Any, alpha: Any, table: Any, w: Any, offset: Any, scale: Any, p: Any, lanes: Any) -> None:
        """Interpreted twin of the compiled `weigh`: the same sums in the same order."""
        p[:] = (n_d + alpha) * (table[w] + p.dtype.type(offset)) * scale
        lanes[:] = 0
        for first in range(0, p.shape[0], LANES):
            lanes += p[first : first + LANES]
else:

    @kernel
    def prefetch(array: Any, row: Any, column: Any) -> None:
        """Bring `array[row, column]` into the cache before it is needed."""
        _prefetch(array, row, column)

    @kernel
    def weigh(n_d: Any, alpha: Any, table: Any, w: Any, offset: Any, scale: Any, p: Any, lanes: Any) -> None:
        """Weights of all topics for a token of word `w`, and their sums by lane.

        Equivalent to ``p[:] = (n_d + alpha) * (table[w] + offset) * scale; lanes[:] = p.reshape(-1, 16).sum(0)``.
        All arrays have one dtype, are contiguous, and `p.shape[0]` is a multiple of 16.
        """
        _weigh(n_d, alpha, table, w, offset, scale, p, lanes)


@kernel
def draw_lane(p: Any, lanes: Any, u: Any) -> Any:
    """Topic k with probability p[k] / sum(p): first its lane, then its place in the lane; −1 if all weights are 0.

    `u` is uniform on (0, 1). Lane sums are rounded, so u may run past the last positive weight: step back then.
    """
    total = 0.0
    for lane in range(LANES):
        total += lanes[lane]
    if not total > 0.0:
        return -1
    u = u * total
    lane = 0
    while lane < LANES - 1 and u >= lanes[lane]:
        u = u - lanes[lane]
        lane += 1
    while lanes[lane] == 0.0:
        lane -= 1
    k = lane
    last = p.shape[0] - LANES + lane
    while k < last and u >= p[k]:
        u = u - p[k]
        k += LANES
    while p[k] == 0.0:
        k -= LANES
    return k


def padded(values: Any, dtype: Any) -> np.ndarray[Any, Any]:
    """`values` (one per topic) as an array of `dtype`, padded with zeros to whole lanes."""
    out = np.zeros(pad(len(values)), dtype)
    out[: len(values)] = values
    return out
