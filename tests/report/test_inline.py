"""The report as an object: inline in a notebook, or saved."""

from __future__ import annotations

import html
import re

import numpy as np
import pytest

from topoi import LDA, Corpus
from topoi.report import Report, write_report

X = np.random.default_rng(0).poisson(1.0, (12, 9))


@pytest.fixture(scope="module")
def lda():
    words = ["</iframe><script>alert(1)</script>", '" onload="alert(1)', *map(str, range(7))]
    return LDA(2, n_sweeps=4, random_state=0).fit(Corpus.from_counts(X, np.array(words, object)))


def test_saved_is_what_write_report_writes(lda, tmp_path):
    report = lda.report(X, title="Posts", max_documents=5)
    assert isinstance(report, Report)
    report.save(tmp_path / "a.html")
    write_report(tmp_path / "b.html", lda, X=X, title="Posts", max_documents=5)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()
    assert repr(report) == "Report(title='Posts')"


def test_inline_is_one_frame_with_the_page(lda):
    frame = lda.report()._repr_html_()
    assert frame.count("<") == 2  # the frame, and its end: nothing else can begin
    (page,) = re.findall(r'srcdoc="([^"]*)"', frame)
    assert html.unescape(page) == lda.report().html
    assert "allow-same-origin" not in frame  # scripts of the page cannot read the notebook


def test_a_title_that_is_not_utf8(lda):
    report = lda.report(title='half \ud800 "quote"')
    report._repr_html_().encode("utf-8")
    assert 'title="half ? &quot;quote&quot;"' in report._repr_html_()
