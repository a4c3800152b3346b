"""`part`, the number of tokens that share a table of tilts, from the user to the kernels."""

from __future__ import annotations

import numpy as np
import pytest

from support.labelled import FOUR, fitted_bytes, quick, quick_regressor, refuse
from topoi import Checkpoints, ParameterError

SAMPLERS = ["collapsed", "partial", "polya_urn", "delayed"]


@pytest.mark.parametrize("make", [quick, quick_regressor])
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_part_makes_the_bytes(make, sampler, train, test):
    y = train.many if make is quick else train.number
    fits = {
        part: fitted_bytes(make(sampler=sampler, part=part).fit(train.X, y), test.X)
        for part in (1, 8, np.int64(8), 1000)
    }
    assert len({repr(found) for found in fits.values()}) == 3, "8 is 8, the others differ"
    assert fitted_bytes(make(sampler=sampler).fit(train.X, y), test.X) == fits[8]


@pytest.mark.parametrize("make", [quick, quick_regressor])
def test_published_gibbs_med_lda(make, train):
    """With part=1 the table is the conditional itself, so that nothing is turned down but by rounding."""
    y = train.many if make is quick else train.number
    shares = {1: [], 8: []}
    for part, found in shares.items():
        watch = [lambda progress, to=found: to.append(progress.info["acceptance"])]
        make(sampler="collapsed", n_gibbs=0, part=part, n_sweeps=10, callbacks=watch).fit(train.X, y)
    assert min(shares[1]) > 0.999
    assert min(shares[8]) < 0.99


@pytest.mark.parametrize("make", [quick, quick_regressor])
@pytest.mark.parametrize("wrong", [0, -1, 1.5, "1", None, True])
def test_wrong_parts_are_refused(make, wrong):
    refuse("part", make(part=wrong), "whole number", FOUR, [0, 1, 0, 1])


def test_another_part_is_another_run(train, tmp_path):
    stop = [lambda progress: progress.sweep == 3]
    quick(part=1, callbacks=stop).fit(train.X, train.many, checkpoint=Checkpoints(tmp_path, every_sweeps=1))
    with pytest.raises(ParameterError, match="other documents, labels or settings"):
        quick(part=2).fit(train.X, train.many, checkpoint=tmp_path)
