"""All responses, by name. A new one is a file beside this and a line here; every test then covers it."""

from __future__ import annotations

from typing import TypeVar

from topoi.chain.responses.base import Response
from topoi.chain.responses.counts import NegativeBinomial
from topoi.chain.responses.epsilon_insensitive import EpsilonInsensitive
from topoi.chain.responses.hinge import Hinge
from topoi.chain.responses.kinds import LabelResponse, NumberResponse
from topoi.chain.responses.logistic import Logistic
from topoi.chain.responses.ordinal import Ordinal
from topoi.chain.responses.softmax import Softmax
from topoi.chain.responses.squared import Squared
from topoi.errors import ParameterError

RESPONSES: dict[str, type[Response]] = {
    response.name: response
    for response in (
        Hinge,
        Logistic,
        Softmax,
        Ordinal,
        EpsilonInsensitive,
        Squared,
        NegativeBinomial,
    )
}
DEFAULT_LABEL_LOSS = Hinge.name
DEFAULT_NUMBER_LOSS = EpsilonInsensitive.name

R = TypeVar("R", bound=Response)


def losses(kind: type[R]) -> dict[str, type[R]]:
    """The responses of one kind (`LabelResponse`, `NumberResponse`), by name."""
    return {name: response for name, response in RESPONSES.items() if issubclass(response, kind)}


def find_loss(name: object, kind: type[R]) -> type[R]:
    """The response of this name; raises with the choices if there is none of its kind."""
    known = losses(kind)
    if not isinstance(name, str) or name not in known:
        *others, last = (f'"{choice}"' for choice in known)
        choices = f"{', '.join(others)} or {last}" if others else last
        raise ParameterError("loss", f"must be {choices}, not {name!r}")
    return known[name]


__all__ = [
    "DEFAULT_LABEL_LOSS",
    "DEFAULT_NUMBER_LOSS",
    "RESPONSES",
    "LabelResponse",
    "NumberResponse",
    "Response",
    "find_loss",
    "losses",
]
