"""The report of an audit about itself."""

import json
from html.parser import HTMLParser

import pytest

from hedgerow.audit import AuditReport, Claim, Judged, PairReport
from hedgerow.cli.audit import html_page, summary

PURE = Claim(epsilon=1.0, delta=0.0)
NORMAL = Claim(epsilon=1.0, delta=1e-6, mu=0.2367, mass=1e-8, pure=1e-12)


def judged(bound, event="the noisy sum is at least 3"):
    return Judged(event, likely_with=True, likely=80, rare=10, runs=100, bound=bound)


def pair(claim, *, epsilon=0.0, mu=0.0, off=0, words="a person joins", event="the noisy sum is at least 3"):
    shown = None if claim.mu is None else judged(mu, event)
    return PairReport("many rows", words, 7, judged(epsilon, event), shown, off, 400, claim)


def report(*pairs, query="SELECT 1", left_out=(), reach=4.0, blur=0.1):
    return AuditReport(query, pairs[0].claim, 0.99, 200, "engine", tuple(pairs), left_out, reach, blur, 1.5)


def test_a_bound_up_to_the_claim_passes_and_one_above_does_not():
    assert pair(PURE, epsilon=1.0).passed
    assert pair(PURE, epsilon=1.001).findings == ("epsilon is at least 1, and 1 was claimed",)
    assert not report(pair(PURE), pair(PURE, epsilon=1.5)).passed


def test_mu_is_judged_where_it_is_claimed():
    assert pair(NORMAL, mu=0.2).passed
    assert pair(NORMAL, mu=0.3).findings == ("mu is at least 0.3, and 0.237 was claimed",)
    assert report(pair(PURE)).mu is None


def test_mu_is_told_as_the_epsilon_that_it_means_at_the_paid_delta():
    assert pair(NORMAL, mu=0.2367).epsilon_of_mu == pytest.approx(1.0, abs=1e-3)
    assert pair(NORMAL).epsilon_of_mu == 0.0
    assert pair(PURE).epsilon_of_mu is None


def test_one_number_off_its_lattice_is_enough():
    assert pair(PURE, off=1).findings == ("1 of 400 released numbers are off the lattice of their noise",)


def test_the_largest_bound_is_the_reports():
    actual = report(pair(NORMAL, epsilon=0.1, mu=0.2), pair(NORMAL, epsilon=0.4, mu=0.1))
    assert (actual.epsilon, actual.mu) == (0.4, 0.2)


def test_the_report_is_plain_json():
    document = json.loads(json.dumps(report(pair(NORMAL, mu=0.1)).to_dict(), allow_nan=False))
    assert document["claim"] == {"epsilon": 1.0, "delta": 1e-6, "mu": 0.2367}
    assert document["pairs"][0]["mu"]["shown_by"] == {
        "event": "the noisy sum is at least 3",
        "bound": 0.1,
        "runs": 100,
        "with_newcomer": 80,
        "without_newcomer": 10,
    }


def test_counts_are_told_by_database_whichever_is_the_likelier():
    document = Judged("e", likely_with=False, likely=9, rare=1, runs=10, bound=0.5).to_dict()
    assert (document["with_newcomer"], document["without_newcomer"]) == (1, 9)


def test_too_few_runs_to_show_anything_are_said_to_be_too_few():
    assert any("more --runs" in line for line in summary(report(pair(PURE), reach=0.9)))
    assert not any("more --runs" in line for line in summary(report(pair(PURE), reach=1.1)))
    assert any("more --runs" in line for line in summary(report(pair(NORMAL), blur=0.3)))
    assert not any("more --runs" in line for line in summary(report(pair(NORMAL), reach=0.1)))


def test_pairs_that_were_left_out_are_named():
    assert any(
        line.endswith(": low values, alone") for line in summary(report(pair(PURE), left_out=("low values", "alone")))
    )


class Reader(HTMLParser):
    """Reads a page: its tags must close in order."""

    def __init__(self):
        super().__init__()
        self.open, self.text, self.tags = [], [], []

    def handle_starttag(self, tag, attrs):  # noqa: ARG002 - the parser's signature
        self.tags.append(tag)
        if tag not in {"meta", "br"}:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):  # noqa: ARG002 - likewise
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def read(page):
    reader = Reader()
    reader.feed(page)
    assert reader.open == []
    return reader


@pytest.mark.parametrize("claim", [PURE, NORMAL])
@pytest.mark.parametrize("bound", [0.0, 0.2, 40.0])
def test_the_page_is_whole_and_needs_nothing_else(claim, bound):
    page = html_page(report(pair(claim, epsilon=bound, mu=bound)))
    actual = read(page)
    assert {"svg", "table", "style"} <= set(actual.tags)
    assert not {"script", "link", "img"} & set(actual.tags)
    assert "http" not in page
    assert actual.tags.count("rect") == 1


def test_nothing_on_the_page_is_taken_for_markup():
    evil = "<script>alert('x')</script> & \"more\""
    page = html_page(report(pair(PURE, epsilon=2.0, words=evil, event=evil), query=evil))
    actual = read(page)
    assert "script" not in actual.tags
    assert sum(evil in text for text in actual.text) >= 3


def test_the_page_says_what_was_exceeded():
    said = " ".join(read(html_page(report(pair(PURE, epsilon=2.0)))).text)
    assert "the claim is exceeded" in said
    assert "epsilon is at least 2, and 1 was claimed" in said
