"""All responses, by name. A new one is a file beside this and a line here; every test then covers it."""

from __future__ import annotations

from typing import TypeVar

from topoi._registry import Registry
from topoi.chain.responses.base import Response
from topoi.chain.responses.kinds import LabelResponse, NumberResponse
from topoi.errors import ParameterError

RESPONSES: Registry[type[Response]] = Registry(
    __name__,
    {
        "hinge": "hinge:Hinge",
        "logistic": "logistic:Logistic",
        "softmax": "softmax:Softmax",
        "ordinal": "ordinal:Ordinal",
        "epsilon_insensitive": "epsilon_insensitive:EpsilonInsensitive",
        "squared": "squared:Squared",
        "counts": "negative_binomial:NegativeBinomial",
    },
)
DEFAULT_LABEL_LOSS = "hinge"
DEFAULT_NUMBER_LOSS = "epsilon_insensitive"

R = TypeVar("R", bound=Response)


def losses(kind: type[R]) -> dict[str, type[R]]:
    """The responses of one kind (`LabelResponse`, `NumberResponse`), by name."""
    return {name: response for name, response in RESPONSES.items() if issubclass(response, kind)}


def find_loss(name: object, kind: type[R]) -> type[R]:
    """The response of this name; raises with the choices if there is none of its kind."""
    if isinstance(name, str) and name in RESPONSES and issubclass(found := RESPONSES[name], kind):
        return found
    *others, last = (f'"{choice}"' for choice in losses(kind))
    choices = f"{', '.join(others)} or {last}" if others else last
    raise ParameterError("loss", f"must be {choices}, not {name!r}")


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
