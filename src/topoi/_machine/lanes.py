"""Loops over tasks and topics in vectors of sixteen lanes, where the compiler's own vectors lose most of the time.

Left to itself the compiler runs the last of a row one by one (up to 31 of 208 topics) and checks, for every row, if
arrays overlap. Every lane is summed in the order of the plain loops, so these give the same bits as their twins.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic

from topoi._machine.arrays import Float, Floats, Int, Ints
from topoi._machine.jit import kernel
from topoi._machine.simd import LANES, _item, _prefetch_address, _Vectors

AHEAD = 16  # rows that are fetched before they are needed: they lie all over memory


def _weighted_code(context: Any, builder: Any, signature: Any, args: Any, square: bool) -> Any:
    """Code of out[k] += Σ_task weight[task] · eta[task, k] (or its square), four tasks at a time."""
    from llvmlite import ir
    from numba.core import cgutils
    from numba.np.arrayobj import make_array

    eta, weight, out = (make_array(t)(context, builder, a) for t, a in zip(signature.args, args, strict=True))
    v = _Vectors(context, builder, signature.args[2].dtype)
    weights = _Vectors(context, builder, signature.args[0].dtype)  # float32, though the table may be float64
    i64 = ir.IntType(64)
    zero = i64(0)
    n_tasks, stride = cgutils.unpack_tuple(builder, eta.shape, count=2)
    (width,) = cgutils.unpack_tuple(builder, out.shape, count=1)

    def add(task: Any, n: int) -> None:
        rows = [builder.gep(eta.data, [builder.mul(builder.add(task, i64(j)), stride)]) for j in range(n)]
        by = [v.splat(builder.load(builder.gep(weight.data, [builder.add(task, i64(j))]))) for j in range(n)]
        with cgutils.for_range_slice(builder, zero, width, i64(LANES), intp=i64) as (k, _):
            total = v.load(out.data, k)
            for row, factor in zip(rows, by, strict=True):
                x = weights.load(row, k)
                x = builder.fmul(x, x) if square else x
                x = x if weights.scalar == v.scalar else weights.to_double(x)
                total = builder.fadd(total, builder.fmul(factor, x))
            v.store(total, out.data, k)

    # Row after row, as they lie in memory; four at a time, so that `out` is read and written once for four.
    fours = builder.and_(n_tasks, i64(-4))
    with cgutils.for_range_slice(builder, zero, fours, i64(4), intp=i64) as (task, _):
        add(task, 4)
    with cgutils.for_range_slice(builder, fours, n_tasks, i64(1), intp=i64) as (task, _):
        add(task, 1)
    return context.get_dummy_value()


@intrinsic
def _add_weighted(typing_context: Any, eta: Any, weight: Any, out: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _weighted_code(context, builder, signature, args, square=False)

    return types.void(eta, weight, out), codegen


@intrinsic
def _add_weighted_squares(typing_context: Any, eta: Any, weight: Any, out: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _weighted_code(context, builder, signature, args, square=True)

    return types.void(eta, weight, out), codegen


class _Rows:
    """The entries lo … hi − 1 of a topic: documents, shares, and rows of sixteen tasks of theirs."""

    def __init__(self, context: Any, builder: Any, signature: Any, args: Any) -> None:
        from llvmlite import ir
        from numba.core import cgutils
        from numba.np.arrayobj import make_array

        self.context, self.builder, self.signature, self.args = context, builder, signature, args
        self.cgutils, self.make_array, self.i64 = cgutils, make_array, ir.IntType(64)
        self.doubles = _Vectors(context, builder, types.float64)
        self.lo, self.hi = args[0], args[1]
        self.origin: Any = None  # the document in the first row, if that is not number 0

    def data(self, i: int) -> Any:
        return self.make_array(self.signature.args[i])(self.context, self.builder, self.args[i]).data

    def entries(self) -> Any:
        return self.cgutils.for_range_slice(self.builder, self.lo, self.hi, self.i64(1), intp=self.i64)

    def document(self, j: Any) -> Any:
        number = self.builder.sext(self.builder.load(self.builder.gep(self.data(2), [j])), self.i64)
        return number if self.origin is None else self.builder.sub(number, self.origin)

    def share(self, j: Any) -> Any:
        v = _Vectors(self.context, self.builder, self.signature.args[3].dtype)
        return self.doubles.splat(v.to_double(self.builder.load(self.builder.gep(self.data(3), [j]))))

    def address(self, i: int, d: Any) -> Any:
        types_of_item = types.void(self.signature.args[i], types.intp, types.intp)
        return _item(self.context, self.builder, types_of_item, [self.args[i], d, self.i64(0)])

    def row(self, i: int, d: Any) -> Any:
        """Row d of argument i, as float64."""
        v = _Vectors(self.context, self.builder, self.signature.args[i].dtype)
        return v.to_double(v.load(self.address(i, d), self.i64(0)))

    def fetch(self, arguments: list[int], j: Any) -> None:
        """Bring the rows of an entry some way ahead into the cache."""
        b = self.builder
        later = b.add(j, self.i64(AHEAD))
        d = self.document(b.select(b.icmp_signed("<", later, self.hi), later, j))
        for i in arguments:
            size = self.context.get_abi_sizeof(self.context.get_value_type(self.signature.args[i].dtype))
            for line in range(0, LANES * size, 64):
                _prefetch_address(b, b.gep(self.address(i, d), [self.i64(line // size)]))


@intrinsic
def _gather(
    typing_context: Any, lo: Any, hi: Any, doc: Any, share: Any, omega: Any, kappa: Any, f: Any, old: Any,
    precision: Any, b: Any,
) -> Any:  # fmt: skip
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        rows = _Rows(context, builder, signature, args)
        v = rows.doubles
        zero = rows.i64(0)
        weight_before = v.load(rows.data(7), zero)
        sums = [rows.cgutils.alloca_once(builder, v.vector) for _ in range(2)]
        for total, i in zip(sums, (8, 9), strict=True):
            builder.store(v.load(rows.data(i), zero), total)
        with rows.entries() as (j, _):
            rows.fetch([4, 5, 6], j)
            d, x = rows.document(j), rows.share(j)
            w, k, score = rows.row(4, d), rows.row(5, d), rows.row(6, d)
            square = builder.fmul(builder.fmul(w, x), x)
            rest = builder.fsub(k, builder.fmul(w, builder.fsub(score, builder.fmul(weight_before, x))))
            builder.store(builder.fadd(builder.load(sums[0]), square), sums[0])
            builder.store(builder.fadd(builder.load(sums[1]), builder.fmul(x, rest)), sums[1])
        for total, i in zip(sums, (8, 9), strict=True):
            v.store(builder.load(total), rows.data(i), zero)
        return context.get_dummy_value()

    ends = (types.int64, types.int64)
    return types.void(*ends, doc, share, omega, kappa, f, old, precision, b), codegen


@intrinsic
def _spread(typing_context: Any, lo: Any, hi: Any, doc: Any, share: Any, f: Any, change: Any, origin: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        rows = _Rows(context, builder, signature, args)
        rows.origin = args[6]
        v = rows.doubles
        by = v.load(rows.data(5), rows.i64(0))
        with rows.entries() as (j, _):
            rows.fetch([4], j)
            d, x = rows.document(j), rows.share(j)
            v.store(builder.fadd(rows.row(4, d), builder.fmul(by, x)), rows.address(4, d), rows.i64(0))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, doc, share, f, change, types.int64), codegen


@intrinsic
def _weigh_topics(
    typing_context: Any, n_d: Any, w: Any, weight: Any, alpha: Any, table: Any, offset: Any, scale: Any
) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        from llvmlite import ir
        from numba.core import cgutils
        from numba.np.arrayobj import make_array

        v = _Vectors(context, builder, signature.args[0].dtype)
        i64 = ir.IntType(64)
        zero = i64(0)
        n, out, prior, by_topic = (make_array(signature.args[i])(context, builder, args[i]) for i in (0, 2, 3, 6))
        types_of_item = types.void(signature.args[4], signature.args[1], types.intp)
        row = _item(context, builder, types_of_item, [args[4], args[1], zero])
        shift = v.splat(context.cast(builder, args[5], signature.args[5], v.real))
        (width,) = cgutils.unpack_tuple(builder, prior.shape, count=1)
        running = cgutils.alloca_once(builder, v.vector)
        builder.store(v.zeros(), running)
        with cgutils.for_range_slice(builder, zero, width, i64(LANES), intp=i64) as (k, _):
            document = builder.fadd(v.load(n.data, k), v.load(prior.data, k))
            word = builder.fadd(v.load(row, k), shift)
            x = builder.fmul(builder.fmul(document, word), v.load(by_topic.data, k))
            v.store(x, out.data, k)
            builder.store(builder.fadd(builder.load(running), x), running)
        total = builder.load(running)
        for half in (8, 4, 2, 1):
            total = builder.fadd(total, v.shuffle(total, total, [(j + half) % LANES for j in range(LANES)]))
        return builder.extract_element(total, ir.IntType(32)(0))

    return n_d.dtype(n_d, w, weight, alpha, table, offset, scale), codegen


@intrinsic
def _blend(typing_context: Any, out: Any, keep: Any, gain: Any, weight: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        from llvmlite import ir
        from numba.core import cgutils
        from numba.np.arrayobj import make_array

        v = _Vectors(context, builder, signature.args[0].dtype)
        i64 = ir.IntType(64)
        n, x = (make_array(signature.args[i])(context, builder, args[i]) for i in (0, 3))
        old, new = (v.splat(context.cast(builder, args[i], signature.args[i], v.real)) for i in (1, 2))
        (width,) = cgutils.unpack_tuple(builder, n.shape, count=1)
        with cgutils.for_range_slice(builder, i64(0), width, i64(LANES), intp=i64) as (k, _):
            kept, added = builder.fmul(v.load(n.data, k), old), builder.fmul(v.load(x.data, k), new)
            v.store(builder.fadd(kept, added), n.data, k)
        return context.get_dummy_value()

    return types.void(out, keep, gain, weight), codegen


if numba.config.DISABLE_JIT:

    def weigh_topics(
        n_d: Floats, w: Int, weight: Floats, alpha: Floats, table: Floats, offset: float, scale: Floats
    ) -> Float:
        """Interpreted twin of the compiled function: the same sums in the same order."""
        weight[:] = (n_d + alpha) * (table[w] + table.dtype.type(offset)) * scale
        lanes = np.zeros(LANES, weight.dtype)
        for k in range(0, weight.shape[0], LANES):
            lanes += weight[k : k + LANES]
        for half in (8, 4, 2, 1):
            lanes = lanes[:half] + lanes[half : 2 * half]
        return lanes[0]

    def blend(out: Floats, keep: Float, gain: Float, weight: Floats) -> None:
        """Interpreted twin of the compiled function."""
        real = out.dtype.type
        out[:] = out * real(keep) + weight * real(gain)

    def add_weighted(eta: Floats, weight: Floats, out: Floats) -> None:
        """Interpreted twin of the compiled function."""
        for task in range(eta.shape[0]):
            out += weight[task] * eta[task]

    def add_weighted_squares(eta: Floats, weight: Floats, out: Floats) -> None:
        """Interpreted twin of the compiled function."""
        for task in range(eta.shape[0]):
            out += weight[task] * (eta[task] * eta[task])

    def gather(
        lo: Int, hi: Int, doc: Ints, share: Floats, omega: Floats, kappa: Floats, f: Floats, old: Floats,
        precision: Floats, b: Floats,
    ) -> None:  # fmt: skip
        """Interpreted twin of the compiled function."""
        for j in range(lo, hi):
            d, x = doc[j], np.float64(share[j])
            w = omega[d].astype(np.float64)
            precision += w * x * x
            b += x * (kappa[d] - w * (f[d] - old * x))

    def spread(lo: Int, hi: Int, doc: Ints, share: Floats, f: Floats, change: Floats, origin: Int) -> None:
        """Interpreted twin of the compiled function."""
        for j in range(lo, hi):
            f[doc[j] - origin] += change * np.float64(share[j])
else:

    @kernel
    def weigh_topics(
        n_d: Floats, w: Int, weight: Floats, alpha: Floats, table: Floats, offset: float, scale: Floats
    ) -> Float:
        """Weights of all topics for a token of word `w`, and their sum, one for each lane and then over the lanes.

        Equivalent to ``weight[:] = (n_d + alpha) * (table[w] + offset) * scale; return weight.sum()``.
        """
        return _weigh_topics(n_d, w, weight, alpha, table, offset, scale)

    @kernel
    def blend(out: Floats, keep: Float, gain: Float, weight: Floats) -> None:
        """Equivalent to ``out[:] = out * keep + weight * gain``."""
        _blend(out, keep, gain, weight)

    @kernel
    def add_weighted(eta: Floats, weight: Floats, out: Floats) -> None:
        """Equivalent to ``out += weight @ eta``, tasks in order; rows of eta are as long as out, whole lanes."""
        _add_weighted(eta, weight, out)

    @kernel
    def add_weighted_squares(eta: Floats, weight: Floats, out: Floats) -> None:
        """Equivalent to ``out += weight @ eta**2``, tasks in order."""
        _add_weighted_squares(eta, weight, out)

    @kernel
    def gather(
        lo: Int, hi: Int, doc: Ints, share: Floats, omega: Floats, kappa: Floats, f: Floats, old: Floats,
        precision: Floats, b: Floats,
    ) -> None:  # fmt: skip
        """Add to precision and b of sixteen tasks what the documents lo … hi − 1 of a topic say about its weights."""
        _gather(lo, hi, doc, share, omega, kappa, f, old, precision, b)

    @kernel
    def spread(lo: Int, hi: Int, doc: Ints, share: Floats, f: Floats, change: Floats, origin: Int) -> None:
        """Equivalent to ``f[doc[lo:hi] - origin] += outer(share[lo:hi], change)``, for sixteen tasks."""
        _spread(lo, hi, doc, share, f, change, origin)
