"""All responses, by name. A new one is a file beside this and a line here; every test then covers it."""

from __future__ import annotations

from topoi.chain.responses.base import Response
from topoi.chain.responses.epsilon_insensitive import EpsilonInsensitive
from topoi.chain.responses.hinge import Hinge
from topoi.chain.responses.logistic import Logistic
from topoi.chain.responses.squared import Squared

RESPONSES: dict[str, type[Response]] = {
    response.name: response for response in (Hinge, Logistic, EpsilonInsensitive, Squared)
}

__all__ = ["RESPONSES", "Response"]
