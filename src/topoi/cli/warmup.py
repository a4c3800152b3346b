"""`topoi warmup`: compile ahead what fit and predict need."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Annotated, Any

import typer

from topoi.cli._app import console


def warmup(
    every: Annotated[bool, typer.Option("--all", help="Also the samplers that `auto` does not choose.")] = False,
) -> None:
    """Compile the kernels of all models into the cache, so that the first fit does not wait for it.

    \b
      topoi warmup
      topoi warmup --all
    """
    log = console(stderr=True)
    with log.status("loading …"):
        from topoi._machine.jit import cache_dir

        todo = steps(every)
    begun = time.perf_counter()
    for number, (name, work) in enumerate(todo, 1):
        with log.status(f"{number}/{len(todo)} {name} …"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            work()
        if log.is_terminal:
            log.print(f"{number}/{len(todo)} {name}", style="dim")
    where = cache_dir()
    seconds = time.perf_counter() - begun
    kept = where or "memory only: there is no folder that only you can write to"
    log.say(f"Ready after {seconds:.0f} s; kernels are in {kept}.")


#: What `auto` means for supervised models: with many tokens another sampler.
FEW_AND_MANY: tuple[dict[str, Any], ...] = ({}, {"sampler": "partial"})


def steps(every: bool) -> list[tuple[str, Callable[[], Any]]]:
    """What to do, with names: tiny fits whose documents, losses and sizes call for different kernels."""
    import numpy as np

    import topoi
    from topoi.chain.responses import LabelResponse, NumberResponse, losses
    from topoi.chain.samplers import SAMPLERS
    from topoi.corpus import Corpus
    from topoi.evaluate import evaluate

    rng = np.random.default_rng(0)
    small = Corpus.from_counts(rng.poisson(0.05, (30, 200)))
    many = 600  # topics for which `auto` takes other kernels
    labels, targets = np.arange(30) % 3, np.arange(30.0)
    short: dict[str, Any] = {"n_sweeps": 12, "n_samples": 2, "random_state": 0}  # priors are learned at the tenth sweep

    def lda(corpus: Corpus, n_topics: int = 3, **more: Any) -> None:
        model = topoi.LDA(n_topics, doc_topic_prior="learn", topic_word_prior="learn", **short, **more).fit(corpus)
        model.transform(corpus)
        model.perplexity(corpus)

    def classifier(corpus: Corpus, y: Any, **more: Any) -> None:
        model = topoi.MedLDAClassifier(3, doc_topic_prior="learn", **short, **more).fit(corpus, y)
        model.transform(corpus)
        evaluate(model, corpus, y, measures=["predictions"])
        model.explain(corpus.take([0]))

    def regressor(corpus: Corpus, **more: Any) -> None:
        model = topoi.MedLDARegressor(3, **short, **more).fit(corpus, targets)
        model.predict_interval(corpus)

    out: list[tuple[str, Callable[[], Any]]] = [
        ("LDA", lambda: lda(small)),
        ("LDA, many topics", lambda: lda(small, many)),
        ("LDA, fold-in by expected topics", lambda: lda(small, infer_method="mean_field")),
    ]
    for name, y in (("two labels", labels % 2), ("labels", labels), ("several labels", np.eye(3, dtype=int)[labels])):
        for loss, response in losses(LabelResponse).items():
            if response.joint and y.ndim > 1:  # it takes one label of each document
                continue
            for more in FEW_AND_MANY:
                what = f"MedLDAClassifier, {name}, {loss}{', many tokens' if more else ''}"
                out.append((what, lambda y=y, loss=loss, more=more: classifier(small, y, loss=loss, **more)))  # type: ignore[misc]
    for loss in losses(NumberResponse):
        for more in FEW_AND_MANY:
            what = f"MedLDARegressor, {loss}{', many tokens' if more else ''}"
            out.append((what, lambda loss=loss, more=more: regressor(small, loss=loss, **more)))  # type: ignore[misc]
    if every:
        for name, kind in SAMPLERS.items():
            out.append((f"LDA, sampler {name}", lambda name=name: lda(small, sampler=name)))  # type: ignore[misc]
            if kind.tilts:
                what = f"MedLDAClassifier, sampler {name}"
                out.append((what, lambda name=name: classifier(small, labels, sampler=name)))  # type: ignore[misc]
    return out
