"""Answers that fit a contract."""

from collections.abc import Mapping

from aiohttp import web

from contracts import pins
from contracts.model import ContractModel


def answer(model: ContractModel, *, status: int = 200, headers: Mapping[str, str] | None = None) -> web.Response:
    return web.Response(status=status, text=model.to_wire(), content_type="application/json", headers=headers)


def contract(name: pins.Name) -> web.Response:
    """A contract's document, byte for byte as pinned."""
    return web.Response(body=pins.document(name), content_type="application/yaml")
