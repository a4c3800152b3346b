"""Files of models, checkpoints, blocks, corpora and notes, damaged or lying: refused, or used without any harm.

    python verify/fuzz_models.py [--cases 10000] [--seed 0]

Half of the files are damaged: bytes flipped, lost, doubled, zeroed, added or cut off. A damaged model must be refused
or be read as it was, and a fit whose checkpoint or block is damaged must end with the bytes that it would have had.
The other half lie: a place in the JSON, or an array, is replaced, and digests are made to fit, as an attacker could.
Whatever is still believed must work, in little time and memory. `fuzzing.py` says what else is checked.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import shutil
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fuzzing
import numpy as np
from fuzz_inputs import make_all
from fuzzing import Fault, Place, Tell, command, library
from safetensors.numpy import load_file, save_file

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import topoi
from support.labelled import Documents
from support.saved_models import JUNK, MAKERS, header_of, nodes, replaced
from topoi import LDA, Corpus
from topoi._disk import store
from topoi._disk.store import _digest
from topoi.chain.checkpoint import CLASSES
from topoi.estimators.unpredicted import NeverPredictedWarning

ESTIMATORS = ("lda, chains", "words", "several", "logistic", "ovr", "number")
#: Texts and numbers for the notes in a folder, which name files, patterns, addresses and settings.
WORSE = [*JUNK, "/dev/zero", "/dev/null", "..", "-", "\0", "\x1b[31m", "tcp://127.0.0.1:9", "blocks", "(a+)+$", "(",
         "ü" * 300, "\ud800", 2**31, 2**63, 1e-300, -0.0, 0.5, 10_000, [0] * 999, "csv", "learn"]  # fmt: skip
NOTES = {
    "topoi.json": ("classifier", [["topics", "folder"], ["info", "folder"], ["info", "folder", "--json"],
                                  ["predict", "folder", "DOCUMENTS", "-o", "out.csv"],
                                  ["evaluate", "folder", "DOCUMENTS"],
                                  ["report", "folder", "DOCUMENTS", "-o", "out.html"]]),
    "unfinished.json": ("unfinished", [["resume", "folder"], ["resume", "folder", "--json"]]),
}  # fmt: skip

expected: dict[str, bytes] = {}  # what whole files give
few: Any = None  # documents to ask about


def setup(outside: Path) -> None:
    """Models of every kind, fits that were killed, and what whole files give."""
    global few
    make_all(outside)
    data = Documents(20, seed=3)
    few = data.X[:2]
    warnings.simplefilter("ignore", NeverPredictedWarning)
    for kind in ESTIMATORS:
        model = MAKERS[kind](data)
        model.save(outside / f"{kind}.topoi")
        expected[kind] = model.transform(few).tobytes()
    for kind in ("unfinished", "blocks"):
        shutil.copytree(outside / kind, "folder")
        if command(["resume", "folder"]) != "done":
            raise RuntimeError("topoi resume failed")
        expected[kind] = Path("folder", "estimator.topoi").read_bytes()
        shutil.rmtree("folder")


# ---- Damage and lies -----------------------------------------------------------------------------------------------


def damaged(data: bytes, rng: np.random.Generator) -> bytes:
    """Bytes with one fault; half of them near the beginning, where files say what they hold."""
    most = len(data) if rng.random() < 0.5 else min(len(data), 2000)
    at, size = int(rng.integers(max(most, 1))), int(rng.integers(1, 50))
    noise = rng.bytes(size)
    return [
        data[:at] + bytes(b ^ (noise[0] or 1) for b in data[at : at + 1]) + data[at + 1 :],
        data[:at],
        data[:at] + noise + data[at:],
        data[:at] + data[at + size :],
        data[:at] + data[at : at + size] + data[at:],
        data[:at] + bytes(size) + data[at + size :],
        data[:at] + b"\xff" * size + data[at + size :],
    ][int(rng.integers(7))]


def false_array(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """An array of another length, shape, type, or with other values."""
    wild = array.astype(np.float64) * 1e300 if array.dtype.kind == "f" else array
    kinds: list[Callable[[], np.ndarray]] = [
        lambda: array[:-1], lambda: np.concatenate((array, array)), lambda: array[None],
        lambda: ~array if array.dtype == bool else np.negative(array), lambda: array.astype(np.float32),
        lambda: array.astype(np.int8), lambda: np.zeros_like(array), lambda: array[::-1], lambda: array[:0],
        lambda: np.full_like(array, array.max(initial=0) + 1) if array.dtype != bool else array, lambda: wild,
        lambda: np.full_like(array, np.nan) if array.dtype.kind == "f" else array,
    ]  # fmt: skip
    with np.errstate(all="ignore"):
        return np.ascontiguousarray(kinds[int(rng.integers(len(kinds)))]())


def pick(things: Any, rng: np.random.Generator) -> Any:
    """One of them."""
    return things[int(rng.integers(len(things)))]


def lie(file: Path, rng: np.random.Generator) -> str:
    """Change a file of ours so that its digest fits; what was changed."""
    arrays, header = load_file(file), header_of(file)
    if rng.random() < 0.7:
        where: Any = pick(list(nodes(header["root"], ("root",))), rng)
        value = pick(JUNK, rng)
        header, what = replaced(header, where, value), f"{'.'.join(map(str, where))} is {value!r:.40}"
    else:
        name = pick(sorted(arrays), rng)
        arrays[name], what = false_array(arrays[name], rng), f"the array {name}"
    header.pop("digest")
    header["digest"] = _digest(header, arrays)
    save_file(arrays, file, metadata={"topoi": json.dumps(header)})
    return what


# ---- Cases ---------------------------------------------------------------------------------------------------------


def model_file(rng: np.random.Generator, place: Place, tell: Tell) -> str:
    """A model: load it, and ask it."""
    kind = pick(ESTIMATORS, rng)
    file = place.work / "model.topoi"
    shutil.copyfile(place.outside / f"{kind}.topoi", file)
    lies = rng.random() < 0.5
    if lies:
        what = lie(file, rng)
    else:
        file.write_bytes(damaged(file.read_bytes(), rng))
        what = "damage"
    tell(f"model {kind}: {what}")

    def use() -> None:
        model = topoi.load(file)
        found = model.transform(few).tobytes()
        for name in ("predict", "predict_proba", "predict_interval"):
            if hasattr(model, name):
                getattr(model, name)(few)
        if not lies and found != expected[kind]:
            raise Fault("another model was read")

    return library(use)


def checkpoint_file(rng: np.random.Generator, place: Place, tell: Tell) -> str:
    """A checkpoint, in a folder or with topics in files: resume."""
    kind = pick(("unfinished", "blocks"), rng)
    folder = place.work / "folder"
    shutil.copytree(place.outside / kind, folder)
    files = sorted(folder.rglob("sweep-*.topoi"))
    lies = rng.random() < 0.5
    what = "damage"
    if lies:
        what = lie(files[-1], rng)
    else:
        for file in files[int(rng.integers(len(files))) :]:
            file.write_bytes(damaged(file.read_bytes(), rng))
    tell(f"checkpoint, {kind}: {what}: topoi resume folder", much=lies)
    return resumed(folder, kind, lies)


def block_file(rng: np.random.Generator, place: Place, tell: Tell) -> str:
    """A block of topics or shares, whose digest stands in the checkpoint: resume."""
    folder = place.work / "folder"
    shutil.copytree(place.outside / "blocks", folder)
    last = sorted(folder.rglob("sweep-*.topoi"))[-1]
    point = store.load(last, CLASSES)
    number = int(rng.integers(len(point.blocks)))
    name, _ = point.blocks[number].split()
    file = last.parent / "blocks" / name
    lies = rng.random() < 0.5
    if lies:
        if rng.random() < 0.3:
            file.write_bytes(damaged(file.read_bytes(), rng))
        else:
            save_file({key: false_array(array, rng) for key, array in load_file(file).items()}, file)
        blocks = list(point.blocks)
        blocks[number] = f"{name} {hashlib.blake2b(file.read_bytes(), digest_size=16).hexdigest()}"
        if rng.random() < 0.2:
            blocks = [pick(blocks, rng) for _ in blocks]
        store.save(last, dataclasses.replace(point, blocks=blocks), CLASSES)
    else:
        file.write_bytes(damaged(file.read_bytes(), rng))
    tell(f"block {name}: {'a lie' if lies else 'damage'}: topoi resume folder")
    return resumed(folder, "blocks", lies)


def resumed(folder: Path, kind: str, lies: bool) -> str:
    """Go on with a fit; if a file was damaged, and not forged, it must come to the same end."""
    outcome = command(["resume", str(folder)])
    if outcome == "refused: memory":
        raise Fault("a small file asks for much memory")
    if not lies and outcome == "done" and (folder / "estimator.topoi").read_bytes() != expected[kind]:
        raise Fault("another model came of it")
    return outcome


def note_file(rng: np.random.Generator, place: Place, tell: Tell) -> str:
    """What a folder says in JSON of a model or of a fit in hand: any command that reads it."""
    name = pick(sorted(NOTES), rng)
    kind, commands = NOTES[name]
    folder = place.work / "folder"
    shutil.copytree(place.outside / kind, folder)
    file = folder / name
    what = "damage"
    if rng.random() < 0.3:
        file.write_bytes(damaged(file.read_bytes(), rng))
    else:
        said = json.loads(file.read_bytes())
        where: Any = pick(list(nodes(said)), rng)
        value = pick(WORSE, rng)
        what = f"{'.'.join(map(str, where))} is {value!r:.40}"
        file.write_text(json.dumps(replaced(said, where, value)))
    arguments = pick(commands, rng)
    tell(f"{name}: {what}: topoi {' '.join(arguments)}", much=name == "unfinished.json")
    arguments = [str(place.outside / "documents.csv") if word == "DOCUMENTS" else word for word in arguments]
    return command(arguments)


def corpus_file(rng: np.random.Generator, place: Place, tell: Tell) -> str:
    """A saved corpus: load it, and learn from it."""
    folder = place.work / "corpus"
    shutil.copytree(place.outside / "corpus", folder)
    file = pick(sorted(folder.iterdir()), rng)
    what = "damage"
    if file.suffix == ".npy" and rng.random() < 0.6:
        np.save(file, false_array(np.load(file), rng))
        what = "a lie"
    elif file.suffix == ".json" and rng.random() < 0.6:
        said = {"": json.loads(file.read_bytes())}
        where: Any = pick(list(nodes(said)), rng)
        value = pick(WORSE, rng)
        file.write_text(json.dumps(replaced(said, where, value)[""]))
        what = f"{'.'.join(map(str, where))} is {value!r:.40}"
    else:
        file.write_bytes(damaged(file.read_bytes(), rng))
    tell(f"corpus {file.name}: {what}")
    mmap = bool(rng.random() < 0.5)
    return library(lambda: LDA(2, n_sweeps=2, n_samples=1).fit(Corpus.load(folder, mmap=mmap)))


KINDS = (model_file, model_file, checkpoint_file, block_file, note_file, corpus_file)


def case(rng: np.random.Generator, place: Place, tell: Tell) -> str:
    """One file, damaged or lying."""
    outcome: str = pick(KINDS, rng)(rng, place, tell)
    return outcome


if __name__ == "__main__":
    fuzzing.main(__doc__ or "", setup, case)
