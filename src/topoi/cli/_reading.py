"""How documents are read: the options, and the same again for new documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoi.errors import FileError, ParameterError

if TYPE_CHECKING:
    from topoi.cli._folder import Model
    from topoi.corpus import Corpus, Ngrams
    from topoi.corpus.text import Preparation
    from topoi.readers import Dataset

PANEL = "Reading"


def _option(*names: str, help: str, panel: str = PANEL, **more: Any) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=panel, **more)


def _ngrams(given: str) -> int | list[int]:
    """The numbers of words of n-grams: one, as 2, or the fewest and the most, as 1,2."""
    from topoi.corpus.ngrams import read_sizes

    try:
        sizes = [int(number) for number in given.split(",")]
        asked = sizes if len(sizes) > 1 else sizes[0]
        if asked != 0:
            read_sizes(asked)
    except (ValueError, ParameterError):
        message = f"{given!r} is not 0, 1, 2 or 3, nor the fewest and the most words, as 1,2."
        raise typer.BadParameter(message) from None
    return asked


Text = Annotated[
    list[str] | None,
    _option(
        "--text",
        help="Column of the text; given several times, the texts are joined. Without it: `text`, else the only column.",
    ),
]
Id = Annotated[str | None, _option("--id", help="Column of the ids of the documents.")]
Label = Annotated[
    str | None,
    _option(
        "--label",
        help="Column of the labels. Formats without columns (folder, mallet, svmlight) have labels in a fixed place: "
        "any word here, as `--label yes`, asks for them.",
    ),
]
Target = Annotated[
    str | None, _option("--target", help="Column of a number to predict, in place of labels; else as --label.")
]
Covariate = Annotated[
    list[str] | None,
    _option(
        "--covariate",
        help="Column with something else that is known of documents, as a price or a brand, to predict from; may be "
        "given several times. Numbers if every value is one, else categories.",
    ),
]
TopicLabels = Annotated[
    str | None,
    _option(
        "--topic-labels",
        help="Column with names of topics that a document may have, divided as --label-separator says: each has topics "
        "of its own, beside those that all share. Empty: not known.",
    ),
]
InputFormat = Annotated[
    str | None,
    _option(
        "--format",
        help="folder, txt, jsonl, csv, tsv, parquet, mallet, svmlight, uci or npz; told from the name by default, and "
        "needed for standard input.",
    ),
]
Encoding = Annotated[str | None, _option("--encoding", help="Encoding of the text; UTF-8 by default.")]
OnError = Annotated[
    str, _option("--on-error", help="`raise`: stop at a document that cannot be read; `skip`: leave it out, say so.")
]
Delimiter = Annotated[str | None, _option("--delimiter", help="CSV, TSV: what stands between fields.")]
MaxMemory = Annotated[
    str | None,
    _option(
        "--max-memory",
        help="Refuse a file that asks for more memory, or more room for a copy, as 8GB. Default: 64 times its "
        "size, and at least 1 GiB.",
    ),
]
LabelSeparator = Annotated[
    str | None, _option("--label-separator", help="What divides the labels of a document, as ';' in `red;green`.")
]
TokenPattern = Annotated[
    str | None,
    _option("--token-pattern", help="Regular expression of a word, if that of the model's file is not believed."),
]

LemmasOfModel = Annotated[
    str | None,
    _option("--lemmas", help="Folder of the model's spaCy pipeline, if that is not installed as a package."),
]


@dataclass(frozen=True)
class Reading:
    """How documents are read that a model is to learn, or that are to be converted."""

    text: Text = None
    label: Label = None
    target: Target = None
    covariate: Covariate = None
    topic_labels: TopicLabels = None
    id: Id = None
    format: InputFormat = None
    label_separator: LabelSeparator = None
    encoding: Encoding = None
    on_error: OnError = "raise"
    lowercase: Annotated[bool, _option("--lowercase/--no-lowercase", help="Make texts lower case.")] = True
    token_pattern: Annotated[
        str | None, _option("--token-pattern", help="Regular expression of a word; two letters or more by default.")
    ] = None
    clean: Annotated[
        str | None,
        _option(
            "--clean",
            help="`auto`, the default, leaves out addresses, HTML, encoded files, and of texts that begin with the "
            "headers of a message all but what its author wrote; `email` takes all texts for messages; `none`.",
        ),
    ] = None
    stop_words: Annotated[
        str | None,
        _option(
            "--stop-words",
            help="Words to leave out: `auto`, the default, are those of the language of the texts; else `none`, a "
            "language as `german`, several as `german,english`, or a file with a word a line.",
        ),
    ] = None
    min_df: Annotated[
        str | None,
        _option(
            "--min-df",
            help="Leave out words of fewer documents: a number, or a share with a point (0.01). Default for texts: 2 "
            "from 50 documents on, 3 from 1,000, 5 from 5,000.",
        ),
    ] = None
    max_df: Annotated[
        str | None,
        _option(
            "--max-df",
            help="Leave out words of more documents. Default for texts: 0.5, from 50 documents on.",
        ),
    ] = None
    max_features: Annotated[int | None, _option("--max-features", min=1, help="Keep the most frequent words.")] = None
    phrases: Annotated[
        bool, _option("--phrases", help="Find words that mostly come together, and take them as one: `new_york`.")
    ] = False
    stem: Annotated[
        bool,
        _option("--stem", help="Take words of the same stem as one, `file` and `files`, by the language of the texts."),
    ] = False
    lemmas: Annotated[
        str | None,
        _option(
            "--lemmas",
            help="Put lemmas in the place of words, `city` for `cities`, by this spaCy pipeline: one that is "
            "installed, as `en_core_web_sm`, or its folder.",
        ),
    ] = None
    ngrams: Annotated[
        Any,
        _option(
            "--ngrams",
            parser=_ngrams,
            metavar="N or FROM,TO",
            help="With labels or targets: what to predict from beside the words of topics. 1, the default for texts: "
            "all other words, as stop words, numbers and headers; 2: pairs of neighbours, as `not good`; 3: also "
            "triples; 1,2: other words and pairs; 0: nothing.",
        ),
    ] = None
    vocabulary_file: Annotated[
        str | None, _option("--vocabulary-file", help="Words of the columns of counts, one a line.")
    ] = None
    tokenized: Annotated[
        bool, _option("--tokenized", help="Texts are words divided by blanks, not to be cut further.")
    ] = False
    delimiter: Delimiter = None
    quotes: Annotated[bool, _option("--quotes/--no-quotes", help="CSV, TSV: quotes have a meaning.")] = True
    header: Annotated[
        bool, _option("--header/--no-header", help="CSV, TSV: the first line has names; else columns are 1, 2, ….")
    ] = True
    first_index: Annotated[
        int, _option("--first-index", min=0, max=1, help="SVMlight: number of the first column.")
    ] = 1
    max_memory: MaxMemory = None


@dataclass(frozen=True)
class NewReading:
    """How new documents are read, where it is not as those that the model has learned from."""

    text: Text = None
    id: Id = None
    format: InputFormat = None
    encoding: Encoding = None
    on_error: OnError = "raise"
    delimiter: Delimiter = None
    token_pattern: TokenPattern = None
    lemmas: LemmasOfModel = None
    max_memory: MaxMemory = None
    topic_labels: Annotated[
        str | None,
        _option("--topic-labels", help="Column with the names of topics that a document may have; all by default."),
    ] = None


def pattern_to_use(found: dict[str, Any], given: str | None) -> str | None:
    """The pattern of a word: as given on the command line, or as `found` in a file that anyone may have written."""
    import shlex

    from topoi.corpus.text.simple_pattern import is_simple

    pattern: str | None = found.get("token_pattern")
    if given is not None or pattern is None or found.get("tokenized") or is_simple(pattern):
        return pattern if given is None else given
    raise ParameterError(
        "token_pattern",
        f"the model's file asks for {pattern!r}, on which some texts could take for ever. If you trust whoever "
        f"made the model, give it yourself: --token-pattern {shlex.quote(pattern)}",
    )


def lemmas_to_use(found: str | None, given: str | None) -> str | None:
    """The spaCy pipeline of a fit: as given on the command line, or as `found` in a file that anyone may have made."""
    from topoi.corpus.text.lemmas import is_installed

    if given is not None or found is None or is_installed(found):
        return found if given is None else given
    raise ParameterError(
        "lemmas", f"the fit was asked for lemmas by {found!r}, which is no installed spaCy pipeline. If it is a folder "
        "that you trust, name it again: --lemmas FOLDER"
    )  # fmt: skip


def format_name(source: str, given: str | None, otherwise: str | None = None) -> str | None:
    """Name of the format: as given, as the name of the source tells, or as it was before."""
    from topoi.readers import FORMATS, format_of

    if given is not None:
        key = given.lower().lstrip(".")
        return next((name for name, kind in FORMATS.items() if key == name or f".{key}" in kind.suffixes), given)
    if source == "-":
        return otherwise
    return "folder" if Path(source).is_dir() else format_of(Path(source).name) or otherwise


def read(source: str, reading: Reading, limits: bool = True, keep_texts: int = 0, **how: Any) -> Dataset:
    """Documents to learn from; without `limits` all words are kept, unless an option says which are not.

    `how` says who reads parts of them, and where the corpus goes.
    """
    from topoi.readers import FORMATS, read_documents

    kind = FORMATS.get(format_name(source, reading.format) or "")
    options = asdict(reading)
    if options["encoding"] is None:
        del options["encoding"]
    options["clean"] = reading.clean or ("auto" if limits else "none")
    options["min_df"] = _share("min_df", reading.min_df or ("auto" if limits else "1"))
    options["max_df"] = _share("max_df", reading.max_df or ("auto" if limits else "1.0"))
    options["stop_words"] = _stop_words(reading.stop_words or ("auto" if limits else "none"))
    options["covariates"] = options.pop("covariate")
    _place_answers(options, kind)
    return read_documents(source, keep_texts=keep_texts, **options, **how)


def read_new(
    source: str,
    new: NewReading,
    before: dict[str, Any],
    model: Model,
    answers: bool = False,
    keep_texts: int = 0,
    covariates: Mapping[str, str | None] | None = None,
    ngrams: Any = None,
    otherwise: str = "",
    groups: Sequence[str] | None = None,
) -> Dataset:
    """New documents in the words of a `model`, cleaned and cut as those that it has learned from were.

    `before` are the options of then. Columns and the like stand for the new file as well, where it has the format of
    then or columns at all. Labels are looked for only if `answers`. `covariates` are the columns that predictions need,
    and what each was then, None if the fit did not have it; `ngrams` those that they need. `otherwise` ends the
    sentence about a covariate that is not there. `groups` are columns to group by.
    """
    from dataclasses import replace

    from topoi.corpus import Corpus
    from topoi.readers import FORMATS, read_documents

    name = format_name(source, new.format, before.get("format"))
    kind = FORMATS.get(name or "")
    options: dict[str, Any] = {"format": name if source == "-" or Path(source).exists() else new.format}
    for key in ("encoding", "label_separator"):
        if before.get(key) is not None:
            options[key] = before[key]
    if kind is None or kind.documents is not None:  # counts are not cut
        options |= _as_cut_before(before, new.token_pattern, model, ngrams)
    if name == before.get("format"):
        for key in ("delimiter", "quotes", "header", "first_index"):
            options[key] = before.get(key, {"quotes": True, "header": True, "first_index": 1}.get(key))
    if kind is None or kind.columns:
        options |= {"text": _columns(before.get("text")), "id": before.get("id")}
    if answers or (kind is not None and not kind.columns):
        options |= {"label": before.get("label"), "target": before.get("target")}
    given = {key: value for key, value in vars(new).items() if value is not None}
    options |= {key: given[key] for key in given if key not in ("format", "token_pattern")}
    options |= {key: None for key in ("id", "label", "target") if options.get(key) == ""}
    _place_answers(options, kind, strict=answers)
    options["covariates"], options["groups"] = covariates or None, groups
    if covariates and kind is not None and not kind.columns:
        names = ", ".join(covariates)
        what = f"the model needs the columns {names}, but this format has no columns: {kind.summary}"
        raise ParameterError("covariates", what)
    if ngrams is not None and kind is not None and kind.documents is None:
        raise FileError(f"{source}: has counts of words; the model predicts from n-grams too, and needs texts.", source)
    try:
        known = {} if "like" in options else {"vocabulary": model.words.vocabulary, "ngrams": ngrams}
        data = read_documents(source, keep_texts=keep_texts, **known, **options)
    except FileError as error:
        raise _with_hint(error, before, covariates or {}, otherwise) from error
    corpus = data.corpus
    words = model.words
    if words.vocabulary is None:  # columns without names: new documents may lack the last ones
        if corpus.n_words > words.n_words:
            raise FileError(f"{source}: has {corpus.n_words} columns, but the model knows {words.n_words}.", source)
        data = replace(data, corpus=Corpus(corpus.words, corpus.doc_ptr, words.n_words))
    return data


@dataclass(frozen=True)
class _Known:
    """What `read_documents` asks of a model."""

    vocabulary: Any
    ngrams: Ngrams | None
    preparation: Preparation


def _as_cut_before(before: dict[str, Any], pattern: str | None, model: Model, ngrams: Any) -> dict[str, Any]:
    """Options by which texts are cut as those that a model has learned from were."""
    found = pattern_to_use(before, pattern)
    if model.words.vocabulary is not None:
        return {"like": _Known(model.words.vocabulary, ngrams, model.preparation), "token_pattern": found}
    return {"token_pattern": found, "stop_words": None, "clean": "none", "min_df": 1, "max_df": 1.0}


def _columns(found: Any) -> list[str] | None:
    """The columns of the text, as a fit has noted them: before there could be several, one was a text."""
    return [found] if isinstance(found, str) else found


def _with_hint(
    error: FileError, before: dict[str, Any], covariates: Mapping[str, str | None], otherwise: str = ""
) -> FileError:
    """Say what to do about a column of the fit that the new file does not have."""
    for needed in (name for name, kind in covariates.items() if kind is not None):
        if f"has no column {needed!r}" in str(error) or f"has no key {needed!r}" in str(error):
            return FileError(f"{error} The fit had it as --covariate; predictions need it{otherwise}.", error.path)
    named = [("text", column) for column in _columns(before.get("text")) or ()]
    for name, column in (*named, *((name, before.get(name)) for name in ("id", "label", "target"))):
        if column and f"has no column {column!r}" in str(error):
            none = "" if name == "text" else f", or say that there is none: --{name} ''"
            return FileError(f"{error} The fit had it as --{name}; name another{none}.", error.path)
    return error


def read_text(
    text: str,
    before: dict[str, Any],
    model: Model,
    token_pattern: str | None = None,
    ngrams: Any = None,
    lemmas: str | None = None,
) -> Corpus:
    """One document that was typed in."""
    import io
    import json

    from topoi.readers import read_documents

    if model.words.vocabulary is None:
        raise ParameterError("text", "the model knows columns of counts, no words; give a file of counts")
    line = io.BytesIO(json.dumps({"text": text}).encode("utf-8"))
    options = _as_cut_before(before, token_pattern, model, ngrams) | {"lemmas": lemmas}
    return read_documents(line, format="jsonl", text="text", **options).corpus


def _place_answers(options: dict[str, Any], kind: Any, strict: bool = True) -> None:
    """Labels of a format without columns are where they are: their column has no name."""
    if kind is None or kind.columns:
        return
    for name in ("label", "target"):
        if options.get(name) is not None:
            if not kind.labels and strict:
                raise ParameterError(name, f"this format has none: {kind.summary}")
            options[name] = True if name == "target" and kind.labels else None


def _share(name: str, value: str) -> float | str:
    """A number of documents, or a share of them if there is a point; or "auto"."""
    if value == "auto":
        return value
    try:
        return float(value) if "." in value or "e" in value.lower() else int(value)
    except ValueError:
        raise ParameterError(
            name, f"must be a number of documents (2) or a share of them (0.1), not {value!r}"
        ) from None


def _stop_words(given: str) -> Any:
    """Stop words as they are asked for: a language, or the words of a file."""
    from topoi.corpus.text.stop_words import check_stop_words
    from topoi.readers._counts import read_vocabulary_file

    try:
        check_stop_words(given)
    except ParameterError as error:
        if not Path(given).exists():
            what = str(error).removeprefix("stop_words: ").partition(";")[0]
            raise ParameterError(
                "stop_words", f"{what}, and no file of this name; give `auto`, `none`, a language as `german` or a "
                "file with a word a line"
            ) from None  # fmt: skip
        return read_vocabulary_file(given).tolist()
    return given
