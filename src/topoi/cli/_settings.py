"""Options of a model, and the estimator that they make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoi.errors import ParameterError

if TYPE_CHECKING:
    from topoi.corpus.target import Kind

PANEL = "Model"
SUPERVISED = "(with labels or targets)"


def _option(*names: str, help: str, **more: Any) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=PANEL, **more)


def _number_of_topics(text: Any) -> int | str:
    """What --topics means."""
    if text == "auto":
        return "auto"
    if not str(text).isdecimal() or int(text) < 1:
        raise typer.BadParameter(f"{text!r} is neither a whole number of at least 1 nor `auto`.")
    return int(text)


@dataclass(frozen=True)
class Settings:
    """What kind of model to learn, and how long."""

    topics: Annotated[
        Any,
        _option(
            "--topics",
            "-k",
            parser=_number_of_topics,
            metavar="NUMBER",
            help="Number of topics, or `auto`: as many as the documents need.",
        ),
    ] = 20
    sweeps: Annotated[
        int | None,
        _option("--sweeps", min=1, help="Sweeps over all tokens; 50, or 100 with labels, 200 with --topics auto."),
    ] = None
    samples: Annotated[int | None, _option("--samples", min=1, help="Samples to average, 10 by default.")] = None
    burn_in: Annotated[
        int | None, _option("--burn-in", min=0, help="Sweeps before the first sample; half of them by default.")
    ] = None
    sampler: Annotated[str | None, _option("--sampler", help="One of `topoi info`; `auto` by default.")] = None
    alpha: Annotated[
        str | None,
        _option(
            "--alpha",
            help="How evenly documents spread over topics: a number, `learn`, the default without labels (with them "
            "0.1), or `hdp`: drawn from a hierarchical Dirichlet process.",
        ),
    ] = None
    beta: Annotated[
        str | None,
        _option(
            "--beta",
            help="How evenly topics spread over words: a number (0.01), `learn`, or `learn_words`: another one for the "
            "words of each frequency.",
        ),
    ] = None
    seeds: Annotated[
        str | None,
        _option(
            "--seeds",
            help="File (.json, .toml, .csv, .tsv) of guided topics: names, and words that are expected in each.",
        ),
    ] = None
    seed_strength: Annotated[
        float | None, _option("--seed-strength", help="Weight of these words, a share of their tokens: 1.")
    ] = None
    topics_per_label: Annotated[
        int | None, _option("--topics-per-label", min=1, help="Topics of each of --topic-labels; 1 by default.")
    ] = None
    prevalence: Annotated[
        str | None,
        _option(
            "--prevalence", help='How topics depend on covariates: "~ party + s(year)"; see docs/howto/covariates.md.'
        ),
    ] = None
    chains: Annotated[int | None, _option("--chains", min=1, help="Independent runs; the best is the model.")] = None
    loss: Annotated[
        str | None, _option("--loss", help=f"What a wrong answer costs {SUPERVISED}; one of `topoi info`.")
    ] = None
    cost: Annotated[float | None, _option("--cost", help=f"Weight of labels against words {SUPERVISED}.")] = None
    margin: Annotated[float | None, _option("--margin", help="If the loss has one; adapts to the documents.")] = None
    class_weight: Annotated[
        str | None,
        _option("--class-weight", help="`balanced`: documents of a rare label weigh more, by how much rarer it is."),
    ] = None
    positive_weight: Annotated[
        float | None,
        _option(
            "--positive-weight",
            help="Weight of the documents that have a label against those that do not, if there are three labels or "
            "more; adapts to each label by default.",
        ),
    ] = None
    strategy: Annotated[
        str | None,
        _option("--strategy", help="multitask: labels share topics; ovr, ovo: topics for each label or pair of them."),
    ] = None
    word_features: Annotated[
        str | None,
        _option(
            "--word-features",
            help=f"`tfidf`, the default: words speak for themselves, beside topics; `none`: topics alone {SUPERVISED}.",
        ),
    ] = None
    refit: Annotated[
        bool | None,
        _option(
            "--refit/--no-refit",
            help=f"Fit the weights anew at the end, which predicts better; else predict as the papers do {SUPERVISED}.",
        ),
    ] = None
    seed: Annotated[
        int, _option("--seed", min=0, max=2**32 - 1, help="The same seed gives the same model, to the last bit.")
    ] = 0
    jobs: Annotated[int, _option("--jobs", "-j", help="Threads; -1 is all cores. They do not change the model.")] = -1
    dask: Annotated[
        str | None,
        _option(
            "--dask",
            help="Address of a Dask scheduler, as tcp://host:8786: its workers do the sweeps; `blocks` does them here "
            "with topics in files. The model is the same; its folder must be on a disk that all workers share.",
        ),
    ] = None
    keep_doc_topic: Annotated[
        bool | None,
        _option(
            "--keep-doc-topic/--no-keep-doc-topic",
            help="Keep the topic shares of the documents in the model; by default up to 500 million numbers of them.",
        ),
    ] = None
    max_seconds: Annotated[float | None, _option("--max-seconds", help="Stop after this time, if not done.")] = None


#: Parameters of the estimators, by option.
PARAMETERS = {
    "topics": "n_topics",
    "sweeps": "n_sweeps",
    "samples": "n_samples",
    "burn_in": "burn_in",
    "sampler": "sampler",
    "alpha": "doc_topic_prior",
    "beta": "topic_word_prior",
    "seeds": "seeds",
    "seed_strength": "seed_strength",
    "topics_per_label": "topics_per_label",
    "prevalence": "prevalence",
    "chains": "n_chains",
    "loss": "loss",
    "cost": "cost",
    "margin": "margin",
    "class_weight": "class_weight",
    "positive_weight": "positive_weight",
    "strategy": "strategy",
    "word_features": "word_features",
    "refit": "refit",
    "seed": "random_state",
    "jobs": "n_jobs",
    "dask": "engine",
    "keep_doc_topic": "keep_doc_topic",
    "max_seconds": "max_seconds",
}
#: Options of models with labels, which those of targets do not have.
OF_LABELS = ("margin", "class_weight", "positive_weight", "strategy")


def new_estimator(
    kind: Kind | None, settings: Settings, progress: bool = False, callbacks: Any = None, topic_labels: bool = False,
    covariates: bool = False,
) -> Any:  # fmt: skip
    """The estimator for labels of this kind, for topic labels and for covariates; it must have the options given.

    α is learned by default without labels, unless topic labels or covariates say what it is.
    """
    import inspect

    import topoi

    if kind is None:
        cls: Any = topoi.LDA
    else:
        cls = topoi.MedLDARegressor if kind == "numbers" else topoi.MedLDAClassifier
    known = inspect.signature(cls).parameters
    chosen: dict[str, Any] = {}
    for option, parameter in PARAMETERS.items():
        value = getattr(settings, option)
        if value is None:
            continue
        if parameter not in known:
            needs = "--label" if option in OF_LABELS else "--label or --target"
            raise ParameterError(option, f"is for models with labels; it needs {needs}")
        if option in ("alpha", "beta"):
            value = _prior(option, value)
        elif option == "seeds":
            value = _seeds(value)
        elif option == "word_features" and value == "none":
            value = None
        chosen[parameter] = value
    _check_company(settings, topic_labels, covariates)
    if kind is None and not topic_labels and not covariates and settings.topics != "auto":
        chosen.setdefault("doc_topic_prior", "learn")
    return cls(**chosen, progress=progress, callbacks=callbacks)


def _check_company(settings: Settings, topic_labels: bool, covariates: bool) -> None:
    """Raise for an option that means nothing without another one."""
    if settings.seed_strength is not None and settings.seeds is None:
        raise ParameterError("seed_strength", "is the weight of seed words; it needs --seeds")
    if settings.topics_per_label is not None and not topic_labels:
        raise ParameterError("topics_per_label", "is the number of topics of each label; it needs --topic-labels")
    if settings.prevalence is not None and not covariates:
        from topoi.estimators.formula import parse_formula

        names = dict.fromkeys(factor.name for term in parse_formula(settings.prevalence) for factor in term)
        options = " ".join(f"--covariate {name}" for name in names if name != ".") or "--covariate year"
        raise ParameterError("prevalence", f"needs the columns that it names: {options}")


def _seeds(path: str) -> Any:
    from topoi.readers import read_seeds

    return read_seeds(path)


def _prior(option: str, value: str) -> Any:
    from topoi.chain.priors import TOPIC_PRIORS, WORD_PRIORS, words_of

    choices = words_of(TOPIC_PRIORS if option == "alpha" else WORD_PRIORS)
    if value in choices:
        return value
    try:
        return float(value)
    except ValueError:
        names = " or ".join(f"`{word}`" for word in choices)
        raise ParameterError(option, f"must be a number or {names}, not {value!r}") from None
