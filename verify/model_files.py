"""Ten thousand damaged model files: each is refused by a ModelError, or is read as it was; nothing else ever happens.

    python verify/model_files.py [--files 10000]

Models of all three estimators, of several chains and several labels, are damaged in two ways. Half of the files have
bytes flipped, lost, doubled, zeroed or cut off. The other half are lies: a place in the JSON, or an array, is replaced
and the digest made to fit, as an attacker could; what still loads must predict without an error. Every load has a limit
of time and of memory. Prints how many were refused and read.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import tracemalloc
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save_file

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from labelled import Documents
from test_model import damages
from test_saved import JUNK, MAKERS, header_of, nodes, replaced

import topoi
from topoi.errors import TopoiError
from topoi.store import ModelError, _digest

SECONDS = 5.0
MEGABYTES = 200.0


def lies(file: Path, n: int, rng: np.random.Generator) -> Any:
    """Write n files whose digest fits what they say."""
    arrays, header = load_file(file), header_of(file)
    places = list(nodes(header["root"], ("root",)))
    for trial in range(n):
        if trial % 3:
            path = places[int(rng.integers(len(places)))]
            lie, changed = replaced(header, path, JUNK[int(rng.integers(len(JUNK)))]), arrays
        else:
            name = list(arrays)[int(rng.integers(len(arrays)))]
            array = arrays[name]
            kinds = [array[:-1], np.concatenate((array, array)), array[None], -array if array.dtype != bool else ~array,
                     array.astype(np.float32), np.zeros_like(array), array[::-1]]  # fmt: skip
            lie, changed = dict(header), arrays | {name: np.ascontiguousarray(kinds[int(rng.integers(len(kinds)))])}
        lie.pop("digest")
        lie["digest"] = _digest(lie, changed)
        save_file(changed, file, metadata={"topoi": json.dumps(lie)})
        yield


def main() -> None:
    """Damage and load."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=10_000)
    args = parser.parse_args()
    data = Documents(60, seed=3)
    rng = np.random.default_rng(0)
    kinds = ["lda, chains", "words", "several", "ovr", "number"]
    each = args.files // (2 * len(kinds))
    told: Counter[str] = Counter()
    slowest = 0.0
    warnings.simplefilter("ignore")
    tracemalloc.start()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model"
        for kind in kinds:
            model = MAKERS[kind](data)
            model.save(file)
            whole = file.read_bytes()
            expected = model.transform(data.X[:3]).tobytes()
            for number, damaged in enumerate(damages(whole, each)):
                file.write_bytes(damaged)
                slowest = max(slowest, attempt(file, told, data, f"{kind} damaged {number}", expected))
            file.write_bytes(whole)
            for number, _ in enumerate(lies(file, each, rng)):
                slowest = max(slowest, attempt(file, told, data, f"{kind} lie {number}", None))
    print(f"{sum(told.values()):,} files: {dict(told)}; slowest {slowest:.2f} s, "
          f"highest memory {tracemalloc.get_traced_memory()[1] / 1e6:.0f} MB")  # fmt: skip


def attempt(file: Path, told: Counter[str], data: Documents, what: str, expected: bytes | None) -> float:
    """Load a file and use what was loaded; raises if anything but a ModelError or a working model comes of it."""
    begun = time.perf_counter()
    try:
        model = topoi.load(file)
    except ModelError:
        told["refused"] += 1
    else:
        try:
            found = model.transform(data.X[:3]).tobytes()
            if hasattr(model, "predict"):
                model.predict(data.X[:3])
        except TopoiError:  # a parameter that only matters now, as n_jobs = 0
            told["refused when used"] += 1
            return time.perf_counter() - begun
        if expected is not None and found != expected:
            raise AssertionError(f"{what}: another model was read")
        told["read"] += 1
    seconds = time.perf_counter() - begun
    if seconds > SECONDS or tracemalloc.get_traced_memory()[1] > MEGABYTES * 1e6:
        raise AssertionError(f"{what}: {seconds:.1f} s, {tracemalloc.get_traced_memory()[1] / 1e6:.0f} MB")
    return seconds


if __name__ == "__main__":
    main()
