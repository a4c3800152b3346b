"""Ten thousand damaged files of every format: each is read, or refused by an error of topoi's own, no more.

    python verify/fuzz_readers.py [--cases 10000] [--seed 0] [--case 17]

Good files of every format that topoi reads (and a folder of texts, a saved corpus, a vocabulary file) are flipped, cut,
doubled, spliced, filled with huge numbers, deep brackets and bytes of other encodings, and compressed before or after.
They are read in a child process that may take so much time, memory and disk; Python's audit events tell of every file
that it opens to write, moves or removes and of every process or connection, and a folder beside the working folder, its
home, is compared after each case. A case depends on its number and the seed alone: `--case` shows one.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

SECONDS = 20.0  # of the processor's time, for a case
PATIENCE = 300.0  # of the clock's: other processes run as well
MEMORY = 3 * 2**30  # bytes, beyond what Python and its packages take
DISK = 2**28  # bytes of one file
LIMIT = "64MB"  # `max_memory` in half of the cases

NUMBERS = [b"0", b"-1", b"1e999", b"nan", b"2147483648", b"16777215", b"4294967296", b"9" * 18, b"9" * 40, b"9" * 5000,
           b"1048577", b"0.5", b"Infinity", b"1_0"]  # fmt: skip
PIECES = [b"[" * 5000, b'{"a":' * 3000, b"]" * 50, b'"', b'"""', b"\\ud800", b"\\", b"\n", b"\r\n", b"\r", b"\0",
          b",,,,", b"\t", b":", b"#", b"\xff\xfe", b"\xef\xbb\xbf", b"\xff", b"\xe9", b"\xed\xa0\x80",
          b"\xf4\x90\x80\x80", b" " * 3000, b"x" * 100_000, b'a","""\n' * 500, b"PAR1", b"PK\x05\x06",
          b"\x93NUMPY", b"\x1f\x8b\x08", b"BZh91AY&SY", b"\xff\xff\xff\x7f", b"\x00\x00\x00\x80",
          b"\xff" * 8, b"null", b"true", b"?"]  # fmt: skip


def seeds() -> dict[str, list[bytes]]:
    """Good files, by format."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    from reader_files import FILES, TEXTS, as_parquet, jsonl, npz
    from scipy import sparse

    def parquet(column: Any, **options: Any) -> bytes:
        file = io.BytesIO()
        pq.write_table(pa.table({"text": column, "label": ["a", "b"] * (len(column) // 2)}), file, **options)
        return file.getvalue()

    counts = np.random.default_rng(1).integers(0, 4, (6, 8))
    matrices = [sparse.csr_array(counts), sparse.csc_array(counts), sparse.coo_array(counts), sparse.dia_array(counts),
                sparse.bsr_array(counts)]  # fmt: skip
    cells = [(d + 1, w + 1, n) for (d, w), n in np.ndenumerate(counts) if n]
    uci = f"6\n8\n{len(cells)}\n" + "".join(f"{d} {w} {n}\n" for d, w, n in cells)
    svm = "".join(
        f"{d % 2},{d} " + " ".join(f"{w + 1}:{n}" for w, n in enumerate(row) if n) + "\n"
        for d, row in enumerate(counts)
    )
    lists = pa.array([["a", "b"], [], ["b", "ä"], ["c"] * 5])
    tokens = [{"tokens": ["New York", "b"], "label": ["x", "y"]}, {"tokens": [], "label": None}]
    return {
        **{name: [content] for name, (content, _) in FILES.items()},
        "jsonl": [FILES["jsonl"][0], jsonl(tokens)],
        "parquet": [
            as_parquet(nr=list(range(6)), text=TEXTS, label=list("ababab")),
            parquet(lists),
            parquet(pa.array(["one two", None, "three", "four"]), compression="none", data_page_version="2.0"),
            parquet(
                pa.array(["aa", "ab", "abc", "b"] * 50),
                use_dictionary=False,
                column_encoding="DELTA_BYTE_ARRAY",
                compression="gzip",
                data_page_size=64,
            ),
            parquet(pa.array(["x", "y"] * 20).dictionary_encode(), compression="zstd", row_group_size=8),
        ],
        "svmlight": [svm.encode(), b"1 1:2 3:1 # two\n-1 qid:3 2:1\n0.5 1:1\n"],
        "uci": [uci.encode()],
        "npz": [npz(matrix) for matrix in matrices],
        "folder": [b"one two three", TEXTS[2].encode()],
        "corpus": [b""],  # made on the spot
        "vocabulary": ["one\ntwo\nsechs\nän\n".encode()],
    }


def mutated(content: bytes, others: list[bytes], rng: np.random.Generator) -> bytes:
    """A file with one fault or some."""
    data = bytearray(content or b"x")
    for _ in range(int(rng.choice([1, 1, 1, 2, 4]))):
        at = int(rng.integers(len(data) + 1))
        end = min(len(data), at + int(rng.choice([1, 4, 30, 300])))
        kind = int(rng.integers(9))
        if kind == 0:
            data[at:end] = rng.bytes(end - at)
        elif kind == 1:
            del data[at : end if rng.random() < 0.7 else len(data)]
        elif kind == 2:
            data[at:at] = data[at:end] * int(rng.choice([1, 2, 100]))
        elif kind == 3:
            other = others[int(rng.integers(len(others)))]
            first = int(rng.integers(len(other) + 1))
            data[at:end] = other[first : first + 200]
        elif kind == 4:  # a number in the text becomes another
            digits = [i for i in range(at, len(data)) if 48 <= data[i] < 58][:1]
            begin = digits[0] if digits else at
            stop = begin
            while stop < len(data) and 48 <= data[stop] < 58:
                stop += 1
            data[begin:stop] = NUMBERS[int(rng.integers(len(NUMBERS)))]
        elif kind in (5, 6):
            data[at : end if kind == 6 else at] = PIECES[int(rng.integers(len(PIECES)))]
        elif kind == 7 and len(data):
            at = min(at, len(data) - 1)
            data[at] ^= 1 << int(rng.integers(8))
        elif kind == 8 and rng.random() < 0.3:
            with contextlib.suppress(UnicodeError):
                name = str(rng.choice(["utf-16", "utf-32", "latin-1", "utf-7", "cp037"]))
                data = bytearray(bytes(data).decode().encode(name))
        data = data[: 2**21] or bytearray(b"\n")
    return bytes(data)


def repacked(content: bytes, others: list[bytes], rng: np.random.Generator) -> bytes:
    """A zip archive of which a member was damaged before it was packed: its checksum is right."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new:
        victim = str(rng.choice(old.namelist()))
        for name in old.namelist():
            member = old.read(name)
            new.writestr(name, mutated(member, others, rng) if name == victim else member)
    return file.getvalue()


def options_of(rng: np.random.Generator) -> dict[str, Any]:
    """Some options of reading; those that a format does not have are refused, which is well."""
    choices: dict[str, list[Any]] = {
        "encoding": ["latin-1", "utf-16", "cp037", "utf-8"], "label": ["label", "x"], "id": ["nr"], "text": ["text"],
        "vocabulary": [["one", "two", "cat"]], "label_separator": [",", ";"], "min_df": [2, 0.5],
        "stop_words": [["the"]], "header": [False], "quotes": [False], "tokenized": [True], "first_index": [0],
        "target": ["label", True], "delimiter": [";", "\t"], "keep_texts": [3], "max_features": [2],
    }  # fmt: skip
    chosen = [name for name in choices if rng.random() < 0.08]
    options = {name: choices[name][int(rng.integers(len(choices[name])))] for name in chosen}
    options |= {"max_memory": LIMIT} if rng.random() < 0.5 else {}
    options |= {"on_error": "skip"} if rng.random() < 0.5 else {}
    return options


class Case:
    """A damaged file in the working folder, and how it is to be read."""

    def __init__(self, seed: int, number: int, files: dict[str, list[bytes]], work: Path) -> None:
        rng = np.random.default_rng([seed, number])
        self.format = list(files)[number % len(files)]
        self.options = options_of(rng)
        self.work = work
        own = files[self.format]
        everything = [content for contents in files.values() for content in contents]
        content, others = own[int(rng.integers(len(own)))], own if rng.random() < 0.6 else everything
        packed = self.format == "npz" and rng.random() < 0.7
        self.content = repacked(content, others, rng) if packed else mutated(content, others, rng)
        self.suffix = str(rng.choice(["", "", ".gz", ".xz", ".bz2", ".zst"]))
        if self.suffix:
            from reader_files import COMPRESS

            self.content = COMPRESS[self.suffix](self.content)
            if rng.random() < 0.3:
                self.content = mutated(self.content, everything, rng)
        self.as_stream = bool(rng.random() < 0.3)
        self.rng = rng

    def prepare(self) -> None:
        """Save what must be whole before it is damaged: nothing is watched yet, as topoi writes by open folders."""
        from topoi.corpus import Corpus

        if self.format == "corpus":
            Corpus.from_tokens([["one", "two", "one"], [], ["three"]]).save(self.work / "corpus")

    def read(self) -> None:
        """Write the file and read it; raises what the reader raises."""
        from topoi.corpus import Corpus
        from topoi.readers import read_documents
        from topoi.readers._counts import read_vocabulary_file

        path = self.work / f"file{self.suffix}"
        if self.format == "corpus":
            victim = sorted((self.work / "corpus").iterdir())[int(self.rng.integers(4))]
            victim.write_bytes(mutated(victim.read_bytes(), [self.content], self.rng))
            corpus = Corpus.load(self.work / "corpus", mmap=bool(self.rng.random() < 0.5))
            corpus.to_counts()
            return
        if self.format == "folder":
            path = self.work / "folder"
            (path / "label").mkdir(parents=True)
            (path / "good").write_bytes(b"one two")
            (path / "label" / f"bad{self.suffix}").write_bytes(self.content)
        else:
            path.write_bytes(self.content)
        if self.format == "vocabulary":
            read_vocabulary_file(path)
            return
        source = io.BytesIO(self.content) if self.as_stream and self.format != "folder" else path
        data = read_documents(source, format=self.format, **self.options)
        rows = [rows for rows in (data.ids, data.labels) if rows is not None]
        if not len(data) or any(len(column) != len(data) for column in rows):
            raise AssertionError(f"{data!r} has columns of other lengths")


# ---- The child -------------------------------------------------------------------------------------------------


class Watch:
    """What a process does outside its working folder, told by Python's audit events."""

    WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
    CHANGES = ("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.chmod", "os.truncate",
               "os.utime", "shutil.rmtree", "shutil.move")  # fmt: skip
    NEVER = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "socket.connect", "pickle.find_class",
             "ctypes.dlopen", "exec")  # fmt: skip

    def __init__(self, work: Path) -> None:
        self.work, self.on, self.seen = os.path.realpath(work), False, []
        sys.addaudithook(self.hook)

    def hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Take note of an event that must not be."""
        if not self.on:
            return
        if event == "open" and isinstance(arguments[0], str | bytes) and arguments[2] & self.WRITES:
            self.note(event, arguments[0])
        elif event in self.CHANGES:
            for path in arguments[: 2 if event in ("os.rename", "os.link", "os.symlink", "shutil.move") else 1]:
                self.note(event, path)
        elif event in self.NEVER and not _importing():
            self.seen.append(f"{event} {arguments!r:.100}")

    def note(self, event: str, path: Any) -> None:
        """Keep an event if its path is outside the working folder."""
        place = os.path.realpath(os.fsdecode(path)) if isinstance(path, str | bytes | os.PathLike) else ""
        if place and not f"{place}{os.sep}".startswith(self.work + os.sep) and place != os.devnull:
            self.seen.append(f"{event} {place}")


def _importing() -> bool:
    """Whether a module is being imported, which runs code and may load a library."""
    frame: Any = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def limit_process() -> None:
    """Limits of memory and disk, where the system has them."""
    try:
        import resource
        import signal
    except ImportError:
        return
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # an OSError in its place
    resource.setrlimit(resource.RLIMIT_FSIZE, (DISK, DISK))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError, ValueError, IndexError):
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
        most = pages * resource.getpagesize() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def snapshot(folder: Path) -> dict[str, tuple[int, int]]:
    """Names, sizes and times of all that is in a folder."""
    found = {}
    for path in sorted(folder.rglob("*")):
        stat = path.lstat()
        found[str(path)] = (stat.st_size, stat.st_mtime_ns)
    return found


def work_through(seed: int, first: int, last: int, work: Path, home: Path) -> None:
    """Read the cases of a range and print what came of each, a line of JSON."""
    import topoi.readers
    from topoi.errors import TopoiError

    assert topoi.readers.FORMATS
    files = seeds()
    watch = Watch(work)
    for number in range(first, first + 2 * len(files)):  # whatever is imported when it is first used
        with contextlib.suppress(Exception):
            clean(work)
            first_try = Case(seed + 1, number, files, work)
            first_try.prepare()
            first_try.read()
    limit_process()
    warnings.simplefilter("error")
    before = snapshot(home)
    for number in range(first, last):
        print(json.dumps({"begun": number}), flush=True)
        clean(work)
        case = Case(seed, number, files, work)
        case.prepare()
        watch.seen.clear()
        begun, what = time.process_time(), ""
        watch.on = True
        try:
            case.read()
            outcome = "read"
        except TopoiError:
            outcome = "refused"
        except BaseException:
            outcome, what = "failed", traceback.format_exc()
        watch.on = False
        seconds = time.process_time() - begun
        if watch.seen or snapshot(home) != before or any((work / "tmp").iterdir()):
            outcome, what = "failed", f"changed what is not its own: {watch.seen}\n{what}"
        if seconds > SECONDS:
            outcome, what = "failed", f"took {seconds:.1f} s\n{what}"
        print(json.dumps({"done": number, "format": case.format, "outcome": outcome, "seconds": seconds, "what": what}),
              flush=True)  # fmt: skip


def clean(work: Path) -> None:
    """An empty working folder with an empty temporary one."""
    shutil.rmtree(work, ignore_errors=True)
    (work / "tmp").mkdir(parents=True)


# ---- The parent ------------------------------------------------------------------------------------------------


def pass_on(stream: Any, lines: queue.Queue[str]) -> None:
    """Every line, and an empty one at the end: to wait for a line of a pipe with a limit takes a thread."""
    for line in stream:
        lines.put(line)
    lines.put("")


def run(seed: int, first: int, last: int, root: Path) -> Any:
    """What came of the cases, one by one; a child that dies or hangs has failed in the case that it had begun."""
    work, home = root / "work", root / "home"
    clean(work)
    home.mkdir(exist_ok=True)
    (home / "letter").write_text("dear all", "utf-8")
    places = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"), str(home))
    environment = os.environ | places | dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(work / "tmp"))
    while first < last:
        command = [sys.executable, __file__, "--seed", str(seed), "--child", str(first), str(last), str(root)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True, cwd=root) as child:
            lines: queue.Queue[str] = queue.Queue()
            threading.Thread(target=pass_on, args=(child.stdout, lines), daemon=True).start()
            while True:
                try:
                    line = lines.get(timeout=PATIENCE)
                except queue.Empty:
                    child.kill()
                    yield {"done": first, "format": "?", "outcome": "failed", "seconds": PATIENCE, "what": "it hangs"}
                    break
                if not line:
                    if first < last:
                        what = f"the process ended with {child.wait()}"
                        yield {"done": first, "format": "?", "outcome": "failed", "seconds": 0.0, "what": what}
                    break
                report = json.loads(line)
                if "done" in report:
                    yield report
                    first = report["done"] + 1
        first += 1


def main() -> None:
    """Make, read, count."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--case", type=int, help="show this one")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        first, last, root = args.child
        work_through(args.seed, int(first), int(last), Path(root) / "work", Path(root) / "home")
        return
    if args.case is not None:
        with tempfile.TemporaryDirectory() as folder:
            case = Case(args.seed, args.case, seeds(), Path(folder))
            print(case.format, case.suffix, case.options, f"{case.content!r:.2000}")
            case.read()
        return
    told: dict[str, Counter[str]] = {}
    slowest, n_failed = 0.0, 0
    with tempfile.TemporaryDirectory() as folder:
        for report in run(args.seed, 0, args.cases, Path(folder)):
            told.setdefault(report["format"], Counter())[report["outcome"]] += 1
            slowest = max(slowest, report["seconds"])
            if report["outcome"] == "failed":
                n_failed += 1
                print(f"case {report['done']} ({report['format']}): {report['what']}", flush=True)
    for name, outcomes in told.items():
        print(f"{name}: " + ", ".join(f"{times:,} {outcome}" for outcome, times in sorted(outcomes.items())))
    print(f"{args.cases:,} cases, seed {args.seed}: {n_failed} failed; the slowest took {slowest:.1f} s CPU")
    sys.exit(1 if n_failed else 0)


if __name__ == "__main__":
    main()
