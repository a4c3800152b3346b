"""What the five papers claim in their abstracts and experiments, and where it is judged, or why it is not."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True)
class Claim:
    """One claim, with the figures that judge it, or the reason why none does."""

    where: str
    says: str
    figures: tuple[str, ...] = ()
    why: str = ""  # what no figure covers of it


LIGHT = "LightMedLDA (conference paper and thesis)"
GIBBS = "Gibbs MedLDA"
FAST = "FastLDA"
URN = "Pólya Urn LDA"
NO_RIVALS = "the variational and the older Gibbs MedLDA are not implemented"
NO_WIKIPEDIA = "Wikipedia (LSHTC) is not at hand"

CLAIMS: dict[str, tuple[Claim, ...]] = {
    LIGHT: (
        Claim("abstract, §3", "O(DK + DN) a sweep in place of O(K³ + DK² + DNK)", ("light_complexity",)),
        Claim(
            "abstract, §6",
            "an order of magnitude faster, at similar accuracy",
            ("light_complexity", "light_binary", "light_multiclass"),
        ),
        Claim(
            "abstract",
            "few changes bring most losses",
            ("light_logistic", "light_regression"),
            "how few is not a thing to measure",
        ),
        Claim("abstract", "the first sampler of supervised topic models in linear time", (), "a claim about history"),
        Claim(
            "§3.3",
            "a frozen proposal is corrected for, so that the stationary density stays",
            ("stale_proposals", "exact_speed"),
        ),
        Claim(
            "§4.1",
            "several tasks cost O(DLK + DK² + DN) by bookkeeping",
            (),
            "[derived](../paper_errors.md): it holds only if documents have ξ in common",
        ),
        Claim(
            "§5", "Gibbs MedLDA is better than most supervised topic models", (), "quoted from the Gibbs MedLDA paper"
        ),
        Claim(
            "§5.1, Fig. 1",
            "two newsgroups: both about 80 %, LightMedLDA slightly more, below 1 s at K = 100",
            ("light_binary",),
        ),
        Claim(
            "§5.1–5.2, Fig. 2",
            "similar accuracy, falling above K = 150; Gibbs MedLDA's time rises sharply, "
            "LightMedLDA's hardly; multi-task takes less than one-vs-all",
            ("light_multiclass",),
        ),
        Claim(
            "§5.1",
            "accuracy falls for lack of sweeps, or since large K overfits",
            (),
            "an explanation that the paper does not test either",
        ),
        Claim(
            "§5.2, Fig. 3",
            "F1 about 0.55 for every K; 11 hours at K = 400, Gibbs MedLDA 33 hours at K = 200",
            ("light_multilabel",),
            f"the hours: {NO_WIKIPEDIA}",
        ),
        Claim("§5.3, Fig. 4", "logistic loss: comparable accuracy in less time", ("light_logistic",)),
        Claim("§5.3, Fig. 5", "regression: comparable R² in less time", ("light_regression",)),
        Claim(
            "§5.4, Fig. 6",
            "the mixture of proposals is best; doc and exp alone take less time",
            ("light_compositions",),
        ),
        Claim("§5.4, Fig. 7", "more steps are more accurate and slower; six are best", ("light_mh_steps",)),
        Claim("§5.4, Fig. 8", "one or two sub-iterations over the weights suffice", ("light_weight_passes",)),
        Claim("thesis, §4.1, Fig. 1", "supervised topics separate the classes in the plane", ("light_embedding",)),
    ),
    GIBBS: (
        Claim(
            "abstract, §4.1, Fig. 1",
            "more accurate than the other max-margin topic models",
            ("gibbs_binary",),
            f"of these LDA with an SVM alone is compared: {NO_RIVALS}",
        ),
        Claim("§4.1, Fig. 1", "the older Gibbs MedLDA is slightly more accurate than the variational", (), NO_RIVALS),
        Claim(
            "abstract, §4.1, Fig. 1",
            "about 100 times as fast as variational MedLDA in training, 10 times as the older "
            "Gibbs MedLDA; much faster in testing than variational",
            (),
            f"{NO_RIVALS}; figures of other code on another machine are no evidence here",
        ),
        Claim("§4.1, Fig. 1", "test time comparable with unsupervised LDA", ("gibbs_binary",)),
        Claim(
            "§4.1",
            "insensitive to α, ℓ and the number of burn-in sweeps",
            ("gibbs_alpha", "gibbs_margin", "gibbs_burn_in_binary"),
        ),
        Claim("§4.1", "a tuned c is slightly better", (), "the paper shows no numbers"),
        Claim("§4.2, Fig. 2", "R² as of variational MedLDA, better than sLDA's", ("gibbs_regression",), NO_RIVALS),
        Claim(
            "§4.2, Fig. 2", "trains 100 times as fast as variational MedLDA and sLDA, tests much faster", (), NO_RIVALS
        ),
        Claim(
            "§4.3.1, Fig. 3",
            "20 classes: clearly more accurate with a model for each, in slightly less time",
            ("gibbs_multiclass",),
            f"compared with one multi-task model: {NO_RIVALS}",
        ),
        Claim("§4.3.1, Fig. 3", "models in parallel save a lot of time", ("gibbs_multiclass",)),
        Claim("§4.3.2, Fig. 4", "stable after 5 to 10 sweeps; time linear in sweeps and K", ("gibbs_burn_in_binary",)),
        Claim("§4.3.2, Fig. 5", "stable above 20 sweeps; time linear", ("gibbs_burn_in_multiclass",)),
        Claim("§4.3.2, Fig. 5", "even 40 or 60 sweeps compete with variational MedLDA", (), NO_RIVALS),
        Claim("§4.3.2, Fig. 6", "stable for α from 0.1 to 10; larger K needs larger α", ("gibbs_alpha",)),
        Claim("§4.3.2, Fig. 7", "stable for ℓ from 25 to 625", ("gibbs_margin",)),
        Claim("§4.3.2", "α and ℓ matter as little with 20 classes", (), "the paper shows no numbers"),
    ),
    FAST: (
        Claim(
            "abstract, §6.1, Fig. 5–6",
            "3 to 8 times as fast as LDA, the more so the larger K; LDA linear in K",
            ("fast_time",),
        ),
        Claim(
            "abstract, Fig. 7",
            "5 to 8 times on four corpora; 5.7 to 7.5 on the two large ones",
            ("fast_corpora",),
            "New York Times and PubMed are not at hand",
        ),
        Claim(
            "abstract", "PubMed: 5 of 6 months of computing saved", (), "PubMed, 8 million documents, is not at hand"
        ),
        Claim("abstract, §6", "the same draws and the same perplexity as LDA", ("fast_histogram",)),
        Claim("§4, Fig. 4", "the top 20 topics hold about 90 % of a document", ("fast_top_topics",)),
        Claim(
            "§4.4", "a bubble sort keeps the order for much less than O(log K)", (), "not timed apart; in `fast_time`"
        ),
        Claim("§6", "repeated times differ by about 1 %", (), "of their machine; ± stands with every time here"),
        Claim("§6.2, Fig. 8", "the number of documents hardly matters", ("fast_corpus_size",)),
        Claim("§6.3, Fig. 9", "small α is faster: above 18 times at K = 800", ("fast_alpha",)),
        Claim("§6.4, Fig. 10", "norms (2, 2, ∞) are tighter than (3, 3, 3)", ("fast_bound",)),
        Claim("§6.4", "norms (3, 3, 3) are slower in all comparisons", ("fast_time",)),
        Claim(
            "§7",
            "adds to what parallel LDA gains (AD-LDA)",
            ("bias_corpus",),
            "the bias of `ad_fast` is measured; its gain by cores is not: this machine has two",
        ),
        Claim("§7", "should work for HDP and Pachinko allocation", (), "an expectation, not a result"),
    ),
    URN: (
        Claim("abstract, §3, Theorem 3", "the urn tends to the Dirichlet as counts grow", ("urn_limit",)),
        Claim("abstract, §5", "the error vanishes with data, and is negligible", ("urn_data_size", "bias_corpus")),
        Claim(
            "abstract, Fig. 2",
            "faster than partially collapsed LDA in all cases, nearly the same at K = 10",
            ("urn_trace",),
        ),
        Claim("§4, Fig. 3", "over iterations both look identical", ("urn_trace",)),
        Claim(
            "§4, Fig. 4",
            "φ 4 to 8 times as fast; z up to 20 % faster at K = 1000, the more the larger K",
            ("urn_time",),
        ),
        Claim("Theorem 6", "a token costs min(K_d, K_v)", ("urn_complexity",)),
        Claim(
            "Corollary 8",
            "the same where topics grow with the data",
            (),
            "follows from Theorem 6; topoi's urn has a fixed K",
        ),
        Claim("§3.6", "E[K_v of φ] = K_v of the counts", (), "[false for small counts](../paper_errors.md)"),
        Claim("§5", "the error likely falls at least as n^−½", ("urn_limit",)),
        Claim("abstract, Appendix A, Fig. 5", "a collapsed sampler can be arbitrarily slower", ("urn_t_example",)),
        Claim(
            "§5",
            "runs well on many cores; φ is sparse and small in memory",
            (),
            "this machine has two cores; memory is not in the paper's figures",
        ),
        Claim(
            "§5",
            "could be combined with Metropolis–Hastings steps for topics",
            (),
            "the paper did not try it either; a correction of φ is [derived and tried](../exactness.md)",
        ),
        Claim("§4", "partially collapsed LDA is the fastest sampler of all compared", (), "quoted from another paper"),
    ),
}


def listed(judged: Collection[str]) -> str:
    """The section of the page: every claim with its figure, of those that are on the page, or the reason."""
    lines = [
        '<a id="claims"></a>\n',
        "## All claims of the papers\n",
        "Of the abstracts and the sections on experiments, and of those on theory where numbers can tell. Sections of "
        "LightMedLDA are those of the conference paper. A claim without a figure says why it has none.\n",
    ]
    for paper, claims in CLAIMS.items():
        lines += [f"### {paper}\n", "| where | claim | judged by |", "| --- | --- | --- |"]
        for claim in claims:
            by = ", ".join(f"[`{name}`](#{name})" if name in judged else f"`{name}`" for name in claim.figures)
            not_covered = f"not covered: {claim.why}" if not claim.figures else claim.why
            lines.append(f"| {claim.where} | {claim.says} | {'; '.join(part for part in (by, not_covered) if part)} |")
        lines.append("")
    return "\n".join(lines)
