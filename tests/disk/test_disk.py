"""Folders from strangers: a link in them leads nowhere that we would write to or delete, and other things stay."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from support.cli_files import FILES, call, done, write_csv
from topoi import LDA, Checkpoints
from topoi._disk import folders, inside
from topoi._disk.blocks import file_in_place, new_file, new_mapped_array
from topoi._disk.whole import new_name, write_whole, writing_whole
from topoi.cli import fit as command
from topoi.corpus import Corpus
from topoi.errors import DiskError, TopoiError

LINKS = pytest.mark.skipif(os.name == "nt", reason="links need a privilege on Windows")
OPTIONS = ("--text", "body", "--topics", "3", "--sweeps", "8", "--jobs", "1", "--checkpoint-seconds", "0")
BLOCKS = (*OPTIONS, "--sampler", "partial", "--dask", "blocks")
X = np.random.default_rng(0).poisson(0.6, (60, 30))


class Killed(BaseException):
    """Stands in for the end of the process."""


@pytest.fixture(params=[True, False], ids=["open folders", "looked at"])
def either(request, monkeypatch):
    """Both ways: with folders that are opened, where the system has it, and with folders that are looked at."""
    monkeypatch.setattr(inside, "BY_DESCRIPTOR", inside.BY_DESCRIPTOR and request.param)


@pytest.fixture
def victim(tmp_path):
    """What belongs to the user and must stay."""
    folder = tmp_path / "precious"
    for name in ("0123456789ab/sweep-000000001", "photos", "sweep-000000002"):
        (folder / name).mkdir(parents=True)
        (folder / name / "file").write_text("precious")
    for name in ("sweep-000000001.topoi", "seed.json", "words.npy", "thesis"):
        (folder / name).write_text("precious")
    return folder


def tree(folder):
    """All that is in a folder."""
    return {path: path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


def killed_fit(tmp_path, monkeypatch, options):
    """A folder with a fit that was killed in the middle."""

    class Deadly(command.Speed):
        def __call__(self, progress):
            super().__call__(progress)
            if progress.sweep == 5:
                raise Killed

    posts = write_csv(tmp_path / "posts.csv")
    with monkeypatch.context() as patch:
        patch.setattr(command, "Speed", Deadly)
        with pytest.raises(Killed):
            call("fit", posts, *options, "-o", tmp_path / "m")
    return tmp_path / "m"


@LINKS
@pytest.mark.parametrize("where", ["", "model-0-chain-0", "model-0-chain-0/blocks", "corpus-0", "blocks/*"])
def test_resume_follows_no_link(where, victim, tmp_path, monkeypatch):
    folder = killed_fit(tmp_path, monkeypatch, BLOCKS)
    path = folder / "checkpoints" / where
    if "*" in where:
        path = next(folder.rglob("blocks/*"))
    moved = tmp_path / "moved"
    path.rename(moved)
    path.symlink_to(victim)
    before = tree(victim)
    result = call("resume", folder)
    assert result.exit_code == 2
    assert "is a link" in " ".join(result.output.split())
    assert tree(victim) == before


@LINKS
def test_resume_with_the_folder_of_blocks_of_another(victim, tmp_path, monkeypatch):
    """The attack that was found: the true blocks behind a link, and other folders beside them."""
    folder = killed_fit(tmp_path, monkeypatch, BLOCKS)
    blocks = next(folder.rglob("blocks"))
    for path in blocks.iterdir():
        path.rename(victim / path.name)
    blocks.rmdir()
    blocks.symlink_to(victim)
    before = tree(victim)
    assert call("resume", folder).exit_code == 2
    assert tree(victim) == before
    assert call("fit", tmp_path / "posts.csv", *BLOCKS, "--force", "-o", folder).exit_code == 2
    assert tree(victim) == before


@LINKS
def test_a_file_that_is_a_link(victim, tmp_path, monkeypatch):
    folder = killed_fit(tmp_path, monkeypatch, OPTIONS)
    checkpoint = max(folder.rglob("sweep-*.topoi"))
    checkpoint.unlink()
    checkpoint.symlink_to(victim / "thesis")
    before = tree(victim)
    assert call("resume", folder).exit_code == 2
    assert tree(victim) == before


@LINKS
@pytest.mark.parametrize("resumed", [True, False])
@pytest.mark.parametrize("kind", ["link", "hard link"])
def test_files_of_the_model_that_lead_elsewhere(kind, resumed, victim, tmp_path, monkeypatch):
    """What is written takes the place of the link: `fit --force`, as told, and `resume` end well."""
    folder = killed_fit(tmp_path, monkeypatch, OPTIONS)
    note = (folder / "unfinished.json").read_bytes()
    (folder / "unfinished.json").unlink()
    names = ("unfinished.json", "topoi.json", "estimator.topoi", ".estimator.topoi.new", ".topoi.json.new")
    for number, name in enumerate(names):
        target = victim / f"target-{number}"
        target.write_bytes(note)
        (folder / name).symlink_to(target) if kind == "link" else (folder / name).hardlink_to(target)
    before = tree(victim)
    if resumed:
        done("resume", folder)
    else:
        done("fit", tmp_path / "posts.csv", *OPTIONS, "--force", "-o", folder)
    assert tree(victim) == before
    for name in ("topoi.json", "estimator.topoi"):
        assert not (folder / name).is_symlink()
        assert (folder / name).stat().st_nlink == 1


@LINKS
def test_a_lock_that_is_a_link(victim, tmp_path):
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / ".topoi.lock").symlink_to(victim / "thesis")
    before = tree(victim)
    result = call("fit", write_csv(tmp_path / "posts.csv"), *OPTIONS, "-o", tmp_path / "m")
    assert result.exit_code == 2
    assert "is a link" in " ".join(result.output.split())
    assert tree(victim) == before


@LINKS
@pytest.mark.parametrize("engine", [None, "blocks"])
@pytest.mark.parametrize("name", ["model-0-chain-0", "seed.json", "corpus-0", "model-0-chain-0/blocks"])
def test_links_in_a_folder_of_checkpoints(name, engine, victim, tmp_path):
    """As from Python, where the folder that a user names may be a link itself."""
    true = tmp_path / "true"
    (true / name).parent.mkdir(parents=True)
    target = victim / "seed.json" if name == "seed.json" else victim
    (true / name).symlink_to(target)
    (tmp_path / "run").symlink_to(true)
    before = tree(victim)
    lda = LDA(3, n_sweeps=4, sampler="partial", engine=engine)
    used = engine == "blocks" or name in ("model-0-chain-0", "seed.json")
    try:
        lda.fit(X, checkpoint=Checkpoints(tmp_path / "run", every_sweeps=1))
        assert not used
    except TopoiError:
        assert used
    assert tree(victim) == before


def test_other_things_stay(tmp_path, monkeypatch):
    folder = killed_fit(tmp_path, monkeypatch, BLOCKS)
    run = next(folder.rglob("blocks/*"))
    others = [folder / "checkpoints" / "mine.pt", run.parent / "mine" / "file", folder / "notes.txt"]
    for path in others:
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
    done("resume", folder)
    done("fit", tmp_path / "posts.csv", *OPTIONS, "--force", "-o", folder)
    assert [path.read_text() for path in others] == ["mine"] * 3
    assert not list(folder.rglob("sweep-*"))


def test_every_name_that_a_fit_makes_is_known(tmp_path, monkeypatch):
    """Else it would stay when the fit is done."""
    found = set()
    for options in (OPTIONS, BLOCKS, (*BLOCKS, "--label", "subject", "--sampler", "polya_urn")):
        folder = killed_fit(tmp_path, monkeypatch, options)
        top = folder / "checkpoints"
        names = {path.relative_to(top).as_posix() for path in top.rglob("*")}
        assert names
        assert not {name for name in names if not folders.CHECKPOINT_NAMES.fullmatch(name)}
        found |= names
        done("resume", folder)
        assert {path.name for path in folder.iterdir()} == set(FILES)
        for path in folder.iterdir():
            path.unlink()
    assert len(found) > 20
    for name in ("model-0-chain-0/photo.jpg", "sweep-000000001.topoi", "corpus-0/thesis.txt", "a", "corpus-0/../a"):
        assert not folders.CHECKPOINT_NAMES.fullmatch(name)


def test_what_a_killed_process_left(tmp_path):
    """A file that was being written neither stays nor is in the way."""
    folder = tmp_path / "m"
    folder.mkdir()
    for name in (*FILES, "unfinished.json", new_name("estimator.topoi")[1:]):
        (folder / new_name(name)).write_text("half")
    (folder / ".topoi.lock").write_text("")
    done("fit", write_csv(tmp_path / "posts.csv"), *OPTIONS, "-o", folder)
    assert {path.name for path in folder.iterdir()} == set(FILES)


# ---- Steps ---------------------------------------------------------------------------------------------------


@LINKS
def test_steps_follow_no_link(either, victim, tmp_path):
    ours = tmp_path / "ours"
    ours.mkdir()
    (ours / "folder").symlink_to(victim)
    (ours / "file").symlink_to(victim / "thesis")
    before = tree(victim)
    for attempt in (
        lambda: write_whole(ours / "folder" / "thesis", b"x", follow=False),
        lambda: folders.remove_file(ours / "folder" / "thesis"),
        lambda: folders.rename(ours / "folder" / "thesis", "other"),
        lambda: folders.make_new(ours / "folder" / "new"),
        lambda: folders.make_inside(ours, "folder", "new"),
        lambda: folders.remove_trees(ours / "folder", re.compile(".*"), set()),
        lambda: folders.remove_files(ours / "folder", ".*"),
        lambda: folders.check_no_links(ours),
        lambda: file_in_place(ours / "file").__enter__(),
        lambda: new_file(ours / "file").__enter__(),
        lambda: new_mapped_array(ours / "file", np.float32, (2, 2)),
    ):
        with pytest.raises(DiskError, match="is a link"):
            attempt()
    folders.remove_tree(ours / "folder" / "photos")
    folders.remove_tree(ours / "folder")
    folders.clear(ours / "folder", folders.CHECKPOINT_NAMES)
    assert tree(victim) == before
    write_whole(ours / "file", b"x", follow=False)
    assert (ours / "file").read_bytes() == b"x"
    assert not (ours / "file").is_symlink()
    folders.remove_file(ours / "folder")
    assert tree(victim) == before


def test_steps(either, tmp_path):
    folder = folders.make_inside(tmp_path / "new" / "root", "a", "b")
    assert folder == (tmp_path / "new" / "root").resolve() / "a" / "b"
    assert folders.make_inside(tmp_path / "new" / "root", "a", "b") == folder
    write_whole(folder / "file", b"1", follow=False)
    write_whole(folder / "file", b"2", follow=False)
    folders.rename(folder / "file", "other")
    assert tree(folder) == {folder / "other": b"2"}
    with pytest.raises(FileExistsError), new_file(folder / "other"):
        pass
    with file_in_place(folder / "other") as file:
        file.write(b"3")
    assert (folder / "other").read_bytes() == b"3"
    array = new_mapped_array(folder / "array.npy", np.float32, (3, 2))
    array[1] = 5
    array.flush()
    np.testing.assert_array_equal(np.load(folder / "array.npy"), [[0, 0], [5, 5], [0, 0]])
    del array
    folders.remove_file(folder / "other")
    folders.remove_file(folder / "other")
    folders.remove_tree(folder)
    assert not folder.exists()
    with pytest.raises(DiskError, match="no name"), inside.opened(tmp_path) as top:
        top.remove("../x")


def test_a_file_that_fails_leaves_nothing(either, tmp_path):
    (tmp_path / "file").write_text("old")

    def fail():
        with writing_whole(tmp_path / "file") as file:
            file.write(b"new")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert tree(tmp_path) == {tmp_path / "file": b"old"}


def test_what_windows_does_not_replace(tmp_path, monkeypatch):
    """It refuses for a file that is mapped, and for a folder with one in it: the error says so, and nothing is lost."""

    def refuse(*args):
        raise PermissionError(13, "Access is denied")

    model, corpus = tmp_path / "model.topoi", tmp_path / "corpus"
    lda = LDA(2, n_sweeps=2, n_samples=1, random_state=0).fit(X)
    lda.save(model)
    Corpus.from_counts(X).save(corpus)
    before = tree(tmp_path)
    monkeypatch.setattr(inside, "BY_DESCRIPTOR", False)
    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(DiskError, match=r"model\.topoi cannot be replaced \(Access is denied\).*under another name"):
        lda.save(model)
    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(DiskError, match=r"corpus cannot be replaced \(Access is denied\).*under another name"):
        Corpus.from_counts(X[:2]).save(corpus)
    assert tree(tmp_path) == before


def test_other_systems_say_why_themselves(tmp_path, monkeypatch):
    if not inside.BY_DESCRIPTOR:
        pytest.skip("here a refusal may be for a file that is in use")

    def refuse(*args, **places):
        raise PermissionError(1, "Operation not permitted", "file")

    monkeypatch.setattr(os, "rename", refuse)
    with pytest.raises(PermissionError, match="Operation not permitted"):
        write_whole(tmp_path / "file", b"x")
    assert tree(tmp_path) == {}


@LINKS
def test_a_link_that_the_user_names_stays_one(tmp_path):
    (tmp_path / "true").mkdir()
    (tmp_path / "true" / "file").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "true" / "file")
    (tmp_path / "folder").symlink_to(tmp_path / "true")
    write_whole(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "true" / "file").read_bytes() == b"new"
    done("fit", write_csv(tmp_path / "posts.csv"), *OPTIONS, "-o", tmp_path / "folder", "--force")
    assert (tmp_path / "true" / "topoi.json").is_file()


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
def test_files_have_the_modes_of_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        done("fit", write_csv(tmp_path / "posts.csv"), *OPTIONS, "-o", tmp_path / "m")
        Corpus.from_counts(X).save(tmp_path / "corpus")
    finally:
        os.umask(before)
    for path in (*(tmp_path / "m").iterdir(), *(tmp_path / "corpus").iterdir()):
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert stat.S_IMODE((tmp_path / "corpus").stat().st_mode) == 0o750


def test_a_corpus_replaces_nothing_but_a_corpus(tmp_path):
    (tmp_path / "words.npy").mkdir()
    (tmp_path / "words.npy" / "mine").write_text("mine")
    with pytest.raises(TopoiError, match="other things"):
        Corpus.from_counts(X).save(tmp_path)
    assert (tmp_path / "words.npy" / "mine").read_text() == "mine"


def test_names_cannot_be_guessed():
    assert len({new_name("a") for _ in range(100)}) == 100
    assert Path(new_name("a")).name.startswith(".a.")


@pytest.mark.parametrize(
    ("tag", "elsewhere"), [(0xA0000003, True), (0xA000000C, True), (0x9000001A, False), (0, False)],
    ids=["junction", "link", "cloud", "none"],
)  # fmt: skip
def test_tags_of_windows(tag, elsewhere):
    found = SimpleNamespace(st_mode=stat.S_IFDIR | 0o755, st_reparse_tag=tag)
    assert inside.is_link(found) == elsewhere
