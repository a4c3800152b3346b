"""Formulas as users of R and of formulaic know them: ``~ party + s(year)``.

The grammar is small, and is all there is: nothing of a formula is ever evaluated as code. That is why no library parses
it: formulaic and patsy evaluate what stands in a term as Python, in the process that reads the model, while formulas
also stand in model files, which may come from strangers.

    formula = ["~"] sum
    sum     = product {"+" product}
    product = term {"*" term}                   a * b is a + b + a:b
    term    = part {":" part}                   the interaction of its parts
    part    = "1" | "." | "(" sum ")" | name | call
    call    = ("s" | "bs" | "C") "(" name ["," "df" "=" number] ")"
    name    = letters, digits, "_" and dots | "`" anything else "`"
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from topoi.errors import ParameterError

LONGEST = 10_000
DEEPEST = 50
MOST_TERMS = 1_000

_TOKEN = re.compile(
    r"\s*(?:(?P<name>[^\W\d][\w.]*)|`(?P<quoted>[^`]+)`|(?P<number>\d+)|(?P<sign>[~+*:(),=.-])|(?P<end>$))"
)
#: What the functions of a formula make of a column.
CALLS = {"s": "spline", "bs": "spline", "C": "category"}


class Factor(NamedTuple):
    """A column of the covariates in a formula, and what it is to be taken as: "column" is whatever it is.

    `n_columns` is that of a spline, 0 if the formula does not say. The name "." stands for all columns.
    """

    name: str
    kind: str = "column"
    n_columns: int = 0


#: The factors that are multiplied, in the order of the formula.
Term = tuple[Factor, ...]
EVERYTHING = Factor(".")


class _Token(NamedTuple):
    kind: str
    text: str
    at: int


def parse_formula(formula: str, parameter: str = "prevalence") -> list[Term]:
    """The terms of a formula, each once; the constant, which is always there, is not among them."""
    if not isinstance(formula, str):
        raise ParameterError(parameter, f'must be a formula like "~ party + s(year)" or None, not {formula!r}')
    if len(formula) > LONGEST:
        raise ParameterError(parameter, f"has {len(formula):,} characters; a formula has at most {LONGEST:,}")
    terms = _Parser(formula, parameter).formula()
    return list(dict.fromkeys(term for term in terms if term))


def with_all(terms: Iterable[Term], names: Iterable[str]) -> list[Term]:
    """The terms with "." replaced by all columns that there are."""
    every = [(Factor(name),) for name in names]
    found: list[Term] = []
    for term in terms:
        found += every if term == (EVERYTHING,) else [term]
    return list(dict.fromkeys(found))


class _Parser:
    def __init__(self, text: str, parameter: str) -> None:
        self.text, self.parameter, self.depth = text, parameter, 0
        self.tokens: list[_Token] = []
        at = 0
        while True:
            match = _TOKEN.match(text, at)
            if match is None:
                at += len(text[at:]) - len(text[at:].lstrip())
                raise self.fault(at, "is not part of a formula; a name with other characters stands in `backquotes`")
            kind = match.lastgroup or "end"
            self.tokens.append(_Token(kind, match[kind], match.start(kind)))
            if kind == "end":
                break
            at = match.end()
        self.next = 0

    def fault(self, at: int, what: str) -> ParameterError:
        found = f"{self.text[at]!r} at character {at + 1}" if at < len(self.text.rstrip()) else "the end"
        return ParameterError(self.parameter, f"{found} of {self.text!r} {what}")

    def take(self, *signs: str) -> _Token | None:
        """The next token if it is one of these signs."""
        token = self.tokens[self.next]
        if token.kind == "sign" and token.text in signs:
            self.next += 1
            return token
        return None

    def need(self, sign: str, after: str) -> None:
        if self.take(sign) is None:
            raise self.fault(self.tokens[self.next].at, f"should be {sign!r}, after {after}")

    def formula(self) -> list[Term]:
        if (tilde := next((token for token in self.tokens if token.text == "~" and token.kind == "sign"), None)) and (
            tilde is not self.tokens[0]
        ):
            raise self.fault(0, 'must not stand before "~": topics are what is explained')
        self.take("~")
        found = self.sum()
        token = self.tokens[self.next]
        if token.text == "-":
            raise self.fault(token.at, "would leave out a term; name those that are wanted. The constant always stays")
        if token.kind != "end":
            raise self.fault(token.at, "should be +, *, : or the end")
        return found

    def sum(self) -> list[Term]:
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.fault(self.tokens[self.next].at, f"is inside of more than {DEEPEST} parentheses")
        found = self.product()
        while self.take("+"):
            found += self.product()
        self.depth -= 1
        return found

    def product(self) -> list[Term]:
        found = self.term()
        while (sign := self.take("*")) is not None:
            other = self.term()
            found = self.limited(found + other + _crossed(found, other), sign.at)
        return found

    def term(self) -> list[Term]:
        found = self.part()
        while (sign := self.take(":")) is not None:
            found = self.limited(_crossed(found, self.part()), sign.at)
        if any(EVERYTHING in term and len(term) > 1 for term in found):
            raise self.fault(self.tokens[self.next - 1].at, 'must not be combined with ".", which is all columns')
        return found

    def limited(self, terms: list[Term], at: int) -> list[Term]:
        if len(terms) > MOST_TERMS:
            raise self.fault(at, f"makes more than {MOST_TERMS:,} terms")
        return terms

    def part(self) -> list[Term]:
        if self.take("("):
            found = self.sum()
            self.need(")", "what is in parentheses")
            return found
        if self.take("."):
            return [(EVERYTHING,)]
        token = self.tokens[self.next]
        self.next += 1
        if token.kind == "number":
            if token.text == "1":
                return [()]
            raise self.fault(token.at, 'is a number; a formula has only "1", the constant, which always stays')
        if token.kind == "quoted":
            return [(Factor(token.text),)]
        if token.kind == "name":
            return [(self.call(token) if self.take("(") else Factor(token.text),)]
        raise self.fault(token.at, "should be the name of a column")

    def call(self, function: _Token) -> Factor:
        if function.text not in CALLS:
            raise self.fault(function.at, f"begins {function.text}(…), but functions are s(…), bs(…) and C(…) alone")
        token = self.tokens[self.next]
        self.next += 1
        if token.kind not in ("name", "quoted"):
            raise self.fault(token.at, "should be the name of a column")
        kind, n_columns = CALLS[function.text], 0
        if self.take(","):
            option, number = self.tokens[self.next], None
            self.next += 1
            if option.text == "df" and kind == "spline" and self.take("="):
                number = self.tokens[self.next]
                self.next += 1
            if number is None or number.kind != "number" or not 4 <= int(number.text[:9]) <= 100:
                raise self.fault((number or option).at, "should be df = a number from 4 to 100, of a spline")
            n_columns = int(number.text)
        self.need(")", f"{function.text}({token.text}")
        return Factor(token.text, kind, n_columns)


def _crossed(first: list[Term], second: list[Term]) -> list[Term]:
    return [tuple(dict.fromkeys((*a, *b))) for a in first for b in second]
