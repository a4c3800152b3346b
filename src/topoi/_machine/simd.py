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

from topoi._machine.arrays import Floats, Int, Numbers
from topoi._machine.jit import kernel

LANES = 16
CACHE_LINE = 64  # bytes


def pad(n_topics: int) -> int:
    """Round `n_topics` up to a whole number of lanes."""
    return -(-n_topics // LANES) * LANES


def aligned_zeros(shape: tuple[int, ...], dtype: Any) -> np.ndarray[Any, Any]:
    """Zeros that begin at a cache line, so that a vector never lies in two (NumPy's own begin 16 bytes into one)."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    room = np.zeros(size + CACHE_LINE, np.uint8)
    first = -room.ctypes.data % CACHE_LINE
    return room[first : first + size].view(dtype).reshape(shape)


def padded(values: Any, dtype: Any) -> np.ndarray[Any, Any]:
    """`values` (one per topic) as an array of `dtype`, padded with zeros to whole lanes."""
    out = aligned_zeros((pad(len(values)),), dtype)
    out[: len(values)] = values
    return out


class _Vectors:
    """Instructions on vectors of one type, in the intermediate language of the compiler."""

    def __init__(self, context: Any, builder: Any, real: Any) -> None:
        from llvmlite import ir

        self.context, self.builder, self.ir, self.real = context, builder, ir, real
        self.scalar = context.get_value_type(real)
        self.vector = ir.VectorType(self.scalar, LANES)
        self.item_size = context.get_abi_sizeof(self.scalar)

    def load(self, base: Any, i: Any) -> Any:
        value = self.builder.load(self._address(base, i))
        value.align = self.item_size  # NumPy promises no more than the item's own alignment
        return value

    def store(self, value: Any, base: Any, i: Any) -> None:
        self.builder.store(value, self._address(base, i)).align = self.item_size

    def _address(self, base: Any, i: Any) -> Any:
        return self.builder.bitcast(self.builder.gep(base, [i]), self.vector.as_pointer())

    def zeros(self) -> Any:
        return self.ir.Constant(self.vector, [0.0] * LANES)

    def shuffle(self, a: Any, b: Any, lanes: list[int]) -> Any:
        return self.builder.shuffle_vector(
            a, b, self.ir.Constant(self.ir.VectorType(self.ir.IntType(32), LANES), lanes)
        )

    def splat(self, value: Any) -> Any:
        undefined = self.ir.Constant(self.ir.VectorType(value.type, LANES), self.ir.Undefined)
        return self.shuffle(
            self.builder.insert_element(undefined, value, self.ir.IntType(32)(0)), undefined, [0] * LANES
        )

    def to_double(self, value: Any) -> Any:
        if self.scalar == self.ir.DoubleType():
            return value
        wide = value.type == self.vector
        return self.builder.fpext(
            value, self.ir.VectorType(self.ir.DoubleType(), LANES) if wide else self.ir.DoubleType()
        )


def _item(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Address of array[row, column] for the three arguments (array, row, column)."""
    from numba.core import cgutils
    from numba.np.arrayobj import make_array

    array = make_array(signature.args[0])(context, builder, args[0])
    index = [context.cast(builder, v, t, types.intp) for v, t in zip(args[1:], signature.args[1:], strict=True)]
    return cgutils.get_item_pointer(context, builder, signature.args[0], array, index, wraparound=False)


def _prefetch_address(builder: Any, address: Any) -> None:
    """Code that brings the cache line of an address in, to be read."""
    from llvmlite import ir
    from numba.core import cgutils

    i32 = ir.IntType(32)
    function_type = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, i32, i32, i32])
    function = builder.module.declare_intrinsic("llvm.prefetch", [cgutils.voidptr_t], function_type)
    builder.call(function, [builder.bitcast(address, cgutils.voidptr_t), i32(0), i32(3), i32(1)])


@intrinsic
def _prefetch(typing_context: Any, array: Any, row: Any, column: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        _prefetch_address(builder, _item(context, builder, signature, args))
        return context.get_dummy_value()

    return types.void(array, row, column), codegen


def _pick_code(context: Any, builder: Any, signature: Any, args: Any, n: int, n_alpha: int = 1) -> list[Any]:
    """Code that picks for `n` tokens at once, for arguments n_d…, w…, p…, u… (n of each), alpha…, table, offset, scale.

    There is one α for each of them, or, which saves its loads, one for all.
    One token's instructions wait for each other; those of several, emitted in turns, fill the gaps.
    """
    from llvmlite import ir
    from numba.core import cgutils
    from numba.np.arrayobj import make_array

    v = _Vectors(context, builder, signature.args[0].dtype)
    i64 = ir.IntType(64)
    zero, step = i64(0), i64(LANES)
    tokens = range(n)
    common = 4 * n + n_alpha

    def array(i: int) -> Any:
        return make_array(signature.args[i])(context, builder, args[i])

    def row(w: int) -> Any:
        types_of_item = types.void(signature.args[common], signature.args[w], types.intp)
        return _item(context, builder, types_of_item, [args[common], args[w], zero])

    def at(base: Any, i: Any) -> Any:
        return v.to_double(builder.load(builder.gep(base, [i])))

    n_d, rows = [array(t).data for t in tokens], [row(n + t) for t in tokens]
    p, u = [array(2 * n + t).data for t in tokens], [args[3 * n + t] for t in tokens]
    alpha, scale = [array(4 * n + a).data for a in range(n_alpha)], array(common + 2).data
    offset = v.splat(context.cast(builder, args[common + 1], signature.args[common + 1], v.real))
    (width,) = cgutils.unpack_tuple(builder, array(4 * n).shape, count=1)

    # Weights of all topics, summed within their lanes.
    running = [cgutils.alloca_once(builder, v.vector) for _ in tokens]
    for t in tokens:
        builder.store(v.zeros(), running[t])
    with cgutils.for_range_slice(builder, zero, width, step, intp=i64) as (k, _):
        prior, by_topic = [v.load(one, k) for one in alpha], v.load(scale, k)
        for t in tokens:
            document = builder.fadd(v.load(n_d[t], k), prior[t % n_alpha])
            word = builder.fadd(v.load(rows[t], k), offset)
            total = builder.fadd(builder.load(running[t]), builder.fmul(builder.fmul(document, word), by_topic))
            v.store(total, p[t], builder.add(k, step))
            builder.store(total, running[t])
    # Sums over the lanes: all lanes up to this one.
    lanes = [builder.load(running[t]) for t in tokens]
    for shift in (1, 2, 4, 8):
        for t in tokens:
            moved = v.shuffle(v.zeros(), lanes[t], [j if j < shift else LANES + j - shift for j in range(LANES)])
            lanes[t] = builder.fadd(lanes[t], moved)
    # The lane: as many as end at or below u · total.
    marks, found, places = [], [], []
    for t in tokens:
        doubles = v.to_double(lanes[t])
        mark = builder.fmul(u[t], builder.extract_element(doubles, ir.IntType(32)(LANES - 1)))
        passed = builder.bitcast(builder.fcmp_ordered("<=", doubles, v.splat(mark)), ir.IntType(LANES))
        lane = builder.zext(builder.ctpop(passed), i64)
        lane = builder.select(builder.icmp_unsigned("<", lane, i64(LANES - 1)), lane, i64(LANES - 1))
        ends = builder.bitcast(cgutils.alloca_once(builder, ir.ArrayType(v.scalar, LANES + 1)), v.scalar.as_pointer())
        builder.store(ir.Constant(v.scalar, 0.0), ends)
        v.store(lanes[t], ends, i64(1))
        marks.append(builder.fsub(mark, at(ends, lane)))
        found.append(builder.add(lane, step))
        places.append(cgutils.alloca_once(builder, i64))
        builder.store(lane, places[t])
    # The place in the lane, in the same way.
    with cgutils.for_range_slice(builder, zero, width, step, intp=i64) as (k, _):
        for t in tokens:
            further = builder.zext(builder.fcmp_ordered(">=", marks[t], at(p[t], builder.add(k, found[t]))), i64)
            builder.store(builder.add(builder.load(places[t]), builder.mul(further, step)), places[t])
    return [builder.load(place) for place in places]


@intrinsic
def _pick(
    typing_context: Any, n_d: Any, w: Any, p: Any, u: Any, alpha: Any, table: Any, offset: Any, scale: Any
) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _pick_code(context, builder, signature, args, 1)[0]

    return types.int64(n_d, w, p, types.float64, alpha, table, offset, scale), codegen


@intrinsic
def _pick_two(
    typing_context: Any, n_a: Any, n_b: Any, w_a: Any, w_b: Any, p_a: Any, p_b: Any, u_a: Any, u_b: Any, alpha: Any,
    table: Any, offset: Any, scale: Any,
) -> Any:  # fmt: skip
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        picked = _pick_code(context, builder, signature, args, 2)
        return context.make_tuple(builder, signature.return_type, picked)

    both = types.UniTuple(types.int64, 2)
    return both(n_a, n_b, w_a, w_b, p_a, p_b, types.float64, types.float64, alpha, table, offset, scale), codegen


@intrinsic
def _pick_two_apart(
    typing_context: Any, n_a: Any, n_b: Any, w_a: Any, w_b: Any, p_a: Any, p_b: Any, u_a: Any, u_b: Any, alpha_a: Any,
    alpha_b: Any, table: Any, offset: Any, scale: Any,
) -> Any:  # fmt: skip
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        picked = _pick_code(context, builder, signature, args, 2, 2)
        return context.make_tuple(builder, signature.return_type, picked)

    both = types.UniTuple(types.int64, 2)
    documents = (n_a, n_b, w_a, w_b, p_a, p_b, types.float64, types.float64, alpha_a, alpha_b)
    return both(*documents, table, offset, scale), codegen


if numba.config.DISABLE_JIT:

    def prefetch(array: Numbers, row: Int, column: Int) -> None:
        """Do nothing: without a compiler there is no memory latency worth hiding."""

    def pick(
        n_d: Floats, w: Int, p: Floats, u: float, alpha: Floats, table: Floats, offset: float, scale: Floats
    ) -> Int:
        """Interpreted twin of the compiled `pick`: the same sums in the same order."""
        p[LANES:] = (n_d + alpha) * (table[w] + p.dtype.type(offset)) * scale
        for k in range(LANES, p.shape[0], LANES):
            p[k : k + LANES] += p[k - LANES : k]
        lanes = p[-LANES:].copy()
        for shift in (1, 2, 4, 8):
            lanes[shift:] = lanes[shift:] + lanes[:-shift]
        u = u * float(lanes[-1])
        lane = min(sum(bool(u >= float(end)) for end in lanes), LANES - 1)
        if lane > 0:
            u = u - float(lanes[lane - 1])
        return lane + LANES * sum(bool(u >= float(end)) for end in p[LANES + lane :: LANES])

    def pick_two(
        n_a: Floats, n_b: Floats, w_a: Int, w_b: Int, p_a: Floats, p_b: Floats, u_a: float, u_b: float,
        alpha_a: Floats, alpha_b: Floats | None, table: Floats, offset: float, scale: Floats,
    ) -> tuple[Int, Int]:  # fmt: skip
        """Two times `pick`."""
        common = (table, offset, scale)
        own = alpha_a if alpha_b is None else alpha_b
        return pick(n_a, w_a, p_a, u_a, alpha_a, *common), pick(n_b, w_b, p_b, u_b, own, *common)
else:

    @kernel
    def prefetch(array: Numbers, row: Int, column: Int) -> None:
        """Bring `array[row, column]` into the cache before it is needed."""
        _prefetch(array, row, column)

    @kernel
    def pick(
        n_d: Floats, w: Int, p: Floats, u: float, alpha: Floats, table: Floats, offset: float, scale: Floats
    ) -> Int:
        """Where u of the weights of all topics lie below, for a token of word `w`; p becomes their sums by lane.

        Equivalent to ``p[16:] = cumsum(((n_d + alpha) * (table[w] + offset) * scale).reshape(-1, 16), axis=0).ravel()``
        and a search: first the lane, then the place in the lane. Both searches count, they do not branch. All arrays
        have one dtype and are contiguous; p begins with 16 zeros. Rounding may lead past the end of a lane.
        """
        return _pick(n_d, w, p, u, alpha, table, offset, scale)

    @kernel
    def pick_two(
        n_a: Floats, n_b: Floats, w_a: Int, w_b: Int, p_a: Floats, p_b: Floats, u_a: float, u_b: float,
        alpha_a: Floats, alpha_b: Floats | None, table: Floats, offset: float, scale: Floats,
    ) -> tuple[Int, Int]:  # fmt: skip
        """Two times `pick`, at the same time, each with its α; None for the second says that it is the first."""
        if alpha_b is None:
            return _pick_two(n_a, n_b, w_a, w_b, p_a, p_b, u_a, u_b, alpha_a, table, offset, scale)
        return _pick_two_apart(n_a, n_b, w_a, w_b, p_a, p_b, u_a, u_b, alpha_a, alpha_b, table, offset, scale)


@kernel
def draw_topic(
    n_d: Floats, w: Int, p: Floats, u: float, alpha: Floats, table: Floats, offset: float, scale: Floats
) -> Int:
    """Topic k with probability ∝ (n_d[k] + alpha[k]) · (table[w, k] + offset) · scale[k]; −1 if all weights are 0.

    `u` is uniform on (0, 1); p, made by `new_sums`, is overwritten.
    """
    return sound(p, pick(n_d, w, p, u, alpha, table, offset, scale))


@kernel
def draw_two(
    n_a: Floats, n_b: Floats, w_a: Int, w_b: Int, p_a: Floats, p_b: Floats, u_a: float, u_b: float,
    alpha_a: Floats, alpha_b: Floats | None, table: Floats, offset: float, scale: Floats,
) -> tuple[Int, Int]:  # fmt: skip
    """`draw_topic` for tokens of two documents, each with its α; quicker if they have the same, alpha_b = None."""
    a, b = pick_two(n_a, n_b, w_a, w_b, p_a, p_b, u_a, u_b, alpha_a, alpha_b, table, offset, scale)
    return sound(p_a, a), sound(p_b, b)


@kernel
def sound(p: Floats, k: Int) -> Int:
    """k if it has a weight; else, since sums are rounded and u may pass the last, the one before; −1 if none has."""
    if k + LANES < p.shape[0] and p[k + LANES] > p[k]:
        return k
    for lane in range(k % LANES, -1, -1):
        for j in range(p.shape[0] - 2 * LANES + lane, -1, -LANES):
            if p[j + LANES] > p[j]:
                return j
    return -1


@kernel
def new_sums(alpha: Floats) -> Floats:
    """Room for the sums of `draw_topic`: sixteen zeros, then one for every (padded) topic."""
    return np.zeros(LANES + alpha.shape[0], alpha.dtype)
