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


@dataclass(frozen=True)
class Settings:
    """What kind of model to learn, and how long."""

    topics: Annotated[int, _option("--topics", "-k", min=1, help="Number of topics.")] = 20
    sweeps: Annotated[
        int | None, _option("--sweeps", min=1, help="Sweeps over all tokens; 200, or 100 with labels.")
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
            help="How evenly documents spread over topics: a number, or `learn`, the default without labels; with "
            "them 0.1.",
        ),
    ] = None
    beta: Annotated[
        str | None, _option("--beta", help="How evenly topics spread over words: a number (0.01), or `learn`.")
    ] = None
    chains: Annotated[int | None, _option("--chains", min=1, help="Independent runs; the best is the model.")] = None
    loss: Annotated[
        str | None, _option("--loss", help=f"What a wrong answer costs {SUPERVISED}; one of `topoi info`.")
    ] = None
    cost: Annotated[float | None, _option("--cost", help=f"Weight of labels against words {SUPERVISED}.")] = None
    margin: Annotated[float | None, _option("--margin", help="If the loss has one; adapts to the documents.")] = None
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
    "chains": "n_chains",
    "loss": "loss",
    "cost": "cost",
    "margin": "margin",
    "strategy": "strategy",
    "word_features": "word_features",
    "refit": "refit",
    "seed": "random_state",
    "jobs": "n_jobs",
    "dask": "engine",
    "max_seconds": "max_seconds",
}


def new_estimator(kind: Kind | None, settings: Settings, progress: bool = False, callbacks: Any = None) -> Any:
    """The estimator for labels of this kind; an option that it does not have is an error."""
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
            needs = "--label" if option in ("margin", "strategy") else "--label or --target"
            raise ParameterError(option, f"is for models with labels; it needs {needs}")
        if option in ("alpha", "beta"):
            value = _prior(option, value)
        elif option == "word_features" and value == "none":
            value = None
        chosen[parameter] = value
    if kind is None:
        chosen.setdefault("doc_topic_prior", "learn")
    return cls(**chosen, progress=progress, callbacks=callbacks)


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
