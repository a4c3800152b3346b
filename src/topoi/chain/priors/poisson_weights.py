"""Draw the weights of a Poisson regression with a Gaussian prior: exact, and hardly ever far from independent draws.

    p(λ | t, e) ∝ N(λ; m, diag(1/τ)) · exp(t·λ − Σ_u e_u exp(x_u·λ)),        t = Σ_u l_u x_u

for rows x_u of a design whose counts l_u have the exposure e_u. It is log-concave. Newton's method finds a Gaussian
close to it, N(mode, (LLᵀ)⁻¹), from the data alone: the present weights have no say. With |Lᵀ(λ − mode)| as the
distance r from the mode, a step has two parts, each of which leaves the density unchanged whatever the Gaussian is:

- The distance, by slice sampling (Neal 2003) of log(1 + r) along the ray from the mode through λ; the density of r has
  a factor r^(columns − 1), of the volume. Weights far out, as in the first sweeps, come back at once. A Metropolis step
  with the Gaussian as its proposal would refuse for ever to leave the place: the tails of the Gaussian are too light.
- The direction, by elliptical slice sampling (Murray, Adams & MacKay 2010) of the Gaussian times a ratio (Nishihara,
  Murray & Adams 2014). Where the Gaussian is good, the first point is nearly always taken, and is a new draw.

Weights for which some exp(x_u·λ) leaves the range of numbers that kernels compute with have no density at all.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from topoi._machine.arrays import Floats, Int, Ints, Stream
from topoi._machine.jit import kernel
from topoi._machine.rng import normal, uniform
from topoi.chain.priors.positive import LARGEST, SMALLEST

LOG_SMALLEST, LOG_LARGEST = math.log(SMALLEST), math.log(LARGEST)
NEWTON_STEPS = 30
HALVINGS = 30
#: Newton's method ends when a step would gain less than this, in units of log density.
SETTLED = 0.02
#: An ellipse on which no point has been found after so many is left where it was entered.
MOST_SHRINKS = 200
FULL_TURN = 2.0 * math.pi
NOWHERE = -1e300  # the log density where there is none
#: log(1 + r) from which on there is none either.
FARTHEST = 300.0


class DesignRows(NamedTuple):
    """Different rows of a design, sparse, as of a `csr_array`, and the exposure of each. The first column is 1."""

    start: Ints
    column: Ints
    value: Floats
    exposure: Floats


class Gaussian(NamedTuple):
    """Independent normal weights: their means and precisions."""

    mean: Floats
    precision: Floats


@kernel
def copy(source: Floats, target: Floats) -> None:
    """Equivalent to ``target[:] = source``, which would compile a message about unlike shapes as well."""
    for j in range(target.shape[0]):
        target[j] = source[j]


@kernel
def log_density_at(rows: DesignRows, seen: Floats, prior: Gaussian, weights: Floats) -> float:
    """Log density of weights up to a constant; NOWHERE outside of the range."""
    total = 0.0
    for j in range(weights.shape[0]):
        away = weights[j] - prior.mean[j]
        total += seen[j] * weights[j] - 0.5 * prior.precision[j] * away * away
    for u in range(rows.exposure.shape[0]):
        score = 0.0
        for i in range(rows.start[u], rows.start[u + 1]):
            score += rows.value[i] * weights[rows.column[i]]
        if not LOG_SMALLEST <= score <= LOG_LARGEST:
            return NOWHERE
        total -= rows.exposure[u] * math.exp(score)
    return total


@kernel
def slope_at(
    rows: DesignRows, seen: Floats, prior: Gaussian, weights: Floats, slope: Floats, curvature: Floats
) -> float:
    """Log density, as `log_density_at`; fills in its gradient and the lower triangle of its negative second derivative.

    Outside of the range these are left unfinished.
    """
    total = 0.0
    curvature[:] = 0.0
    for j in range(weights.shape[0]):
        away = weights[j] - prior.mean[j]
        total += seen[j] * weights[j] - 0.5 * prior.precision[j] * away * away
        slope[j] = seen[j] - prior.precision[j] * away
        curvature[j, j] = prior.precision[j]
    for u in range(rows.exposure.shape[0]):
        score = 0.0
        for i in range(rows.start[u], rows.start[u + 1]):
            score += rows.value[i] * weights[rows.column[i]]
        if not LOG_SMALLEST <= score <= LOG_LARGEST:
            return NOWHERE
        expected = rows.exposure[u] * math.exp(score)
        total -= expected
        for i in range(rows.start[u], rows.start[u + 1]):
            part = expected * rows.value[i]
            slope[rows.column[i]] -= part
            for j in range(rows.start[u], i + 1):  # columns ascend
                curvature[rows.column[i], rows.column[j]] += part * rows.value[j]
    return total


@kernel
def factorise(a: Floats) -> None:
    """Turn the lower triangle of a positive definite matrix into its Cholesky factor."""
    n = a.shape[0]
    for j in range(n):
        total = a[j, j]
        for i in range(j):
            total -= a[j, i] * a[j, i]
        a[j, j] = math.sqrt(max(total, 1e-300))
        for k in range(j + 1, n):
            total = a[k, j]
            for i in range(j):
                total -= a[k, i] * a[j, i]
            a[k, j] = total / a[j, j]


@kernel
def solve_upper(factor: Floats, x: Floats) -> None:
    """Solve Lᵀy = x in place."""
    n = x.shape[0]
    for back in range(n):
        j = n - 1 - back
        for i in range(j + 1, n):
            x[j] -= factor[i, j] * x[i]
        x[j] /= factor[j, j]


@kernel
def solve_lower(factor: Floats, x: Floats) -> None:
    """Solve Ly = x in place."""
    for j in range(x.shape[0]):
        for i in range(j):
            x[j] -= factor[j, i] * x[i]
        x[j] /= factor[j, j]


@kernel
def climb_to_mode(rows: DesignRows, seen: Floats, prior: Gaussian, mode: Floats, factor: Floats) -> None:
    """Fill in the mode, more or less, and the Cholesky factor of the curvature close to it; from the data alone."""
    n = mode.shape[0]
    exposure = 0.0
    for u in range(rows.exposure.shape[0]):
        exposure += rows.exposure[u]
    # The constant for which as many tables are expected as there are, if nothing else has an effect.
    shift = math.exp(-prior.mean[0])
    mode[:] = 0.0
    mode[0] = min(max(math.log((seen[0] + 1.0) / (exposure + shift)), LOG_SMALLEST + 1.0), LOG_LARGEST - 1.0)
    slope, step, new = np.zeros(n), np.zeros(n), np.zeros(n)
    now = slope_at(rows, seen, prior, mode, slope, factor)
    for _ in range(NEWTON_STEPS):
        factorise(factor)
        copy(slope, step)
        solve_lower(factor, step)
        gain = 0.0
        for j in range(n):
            gain += 0.5 * step[j] * step[j]
        solve_upper(factor, step)
        if gain < SETTLED:  # the last step is short: the curvature is that of its end
            for j in range(n):
                mode[j] += step[j]
            return
        value = NOWHERE
        for _ in range(HALVINGS):
            for j in range(n):
                new[j] = mode[j] + step[j]
            value = slope_at(rows, seen, prior, new, slope, factor)
            if value > now:
                break
            for j in range(n):
                step[j] *= 0.5
        if value <= now:  # it is at the border of the range
            slope_at(rows, seen, prior, mode, slope, factor)
            break
        copy(new, mode)
        now = value
    factorise(factor)


@kernel
def log_ratio(rows: DesignRows, seen: Floats, prior: Gaussian, weights: Floats, mode: Floats, factor: Floats) -> float:
    """Log density of weights, divided by that of the Gaussian at the mode; NOWHERE where there is none."""
    value = log_density_at(rows, seen, prior, weights)
    if value == NOWHERE:
        return NOWHERE
    n = mode.shape[0]
    for j in range(n):
        total = 0.0  # of Lᵀ(λ − mode)
        for i in range(j, n):
            total += factor[i, j] * (weights[i] - mode[i])
        value += 0.5 * total * total
    return value


@kernel
def log_density_on_ray(
    rows: DesignRows, seen: Floats, prior: Gaussian, mode: Floats, ray: Floats, far: float, point: Floats
) -> float:
    """Log density of far = log(1 + r) at mode + r·ray, which is filled in as `point`."""
    if not 0.0 < far < FARTHEST:
        return NOWHERE
    r = math.expm1(far)
    for j in range(mode.shape[0]):
        point[j] = mode[j] + r * ray[j]
    value = log_density_at(rows, seen, prior, point)
    return value if value == NOWHERE else value + (mode.shape[0] - 1) * math.log(r) + far


@kernel
def move_along_ray(
    rows: DesignRows, seen: Floats, prior: Gaussian, weights: Floats, mode: Floats, factor: Floats, stream: Stream
) -> None:
    """Draw the distance of the weights from the mode, in the direction that they have."""
    n = weights.shape[0]
    square = 0.0
    for j in range(n):
        total = 0.0
        for i in range(j, n):
            total += factor[i, j] * (weights[i] - mode[i])
        square += total * total
    r = math.sqrt(square)
    x = math.log1p(r)
    if not 0.0 < x < FARTHEST:
        return
    ray, point = np.zeros(n), np.zeros(n)
    for j in range(n):
        ray[j] = (weights[j] - mode[j]) / r
    level = log_density_on_ray(rows, seen, prior, mode, ray, x, point) + math.log(uniform(stream))
    width = 2.0 / math.sqrt(float(n))
    left = x - width * uniform(stream)
    right = left + width
    while left > 0.0 and log_density_on_ray(rows, seen, prior, mode, ray, left, point) > level:
        left -= width
    left = max(left, 0.0)
    while log_density_on_ray(rows, seen, prior, mode, ray, right, point) > level:
        right += width
    for _ in range(MOST_SHRINKS):
        new = left + (right - left) * uniform(stream)
        if log_density_on_ray(rows, seen, prior, mode, ray, new, point) > level:
            copy(point, weights)
            return
        if new < x:
            left = new
        else:
            right = new


@kernel
def turn(
    rows: DesignRows, seen: Floats, prior: Gaussian, weights: Floats, mode: Floats, factor: Floats, stream: Stream
) -> Int:
    """Move the weights to another point of an ellipse around the mode; returns how many were tried."""
    n = weights.shape[0]
    other, new = np.zeros(n), np.zeros(n)
    for j in range(n):
        other[j] = normal(stream)
    solve_upper(factor, other)
    level = log_ratio(rows, seen, prior, weights, mode, factor) + math.log(uniform(stream))
    angle = FULL_TURN * uniform(stream)
    low, high = angle - FULL_TURN, angle
    for tried in range(MOST_SHRINKS):
        for j in range(n):
            new[j] = mode[j] + (weights[j] - mode[j]) * math.cos(angle) + other[j] * math.sin(angle)
        value = log_ratio(rows, seen, prior, new, mode, factor)
        if value > level and value != NOWHERE:
            copy(new, weights)
            return tried + 1
        if angle < 0.0:
            low = angle
        else:
            high = angle
        angle = low + (high - low) * uniform(stream)
    return MOST_SHRINKS


@kernel
def draw_weights(rows: DesignRows, seen: Floats, prior: Gaussian, weights: Floats, stream: Stream) -> Int:
    """Move `weights` by a step that leaves their density unchanged; returns how many points of the ellipse were tried.

    `seen` is t, the sum of the rows of the design, each times its count. Weights outside of the range, which only
    documents that they were not drawn for can have, stay as they are.
    """
    if log_density_at(rows, seen, prior, weights) == NOWHERE:
        return 0
    n = weights.shape[0]
    mode, factor = np.zeros(n), np.zeros((n, n))
    climb_to_mode(rows, seen, prior, mode, factor)
    move_along_ray(rows, seen, prior, weights, mode, factor, stream)
    return turn(rows, seen, prior, weights, mode, factor, stream)
