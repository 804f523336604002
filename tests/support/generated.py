"""Requests that are generated from a contract, sent to a real sidecar."""

import asyncio
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from threading import Thread
from typing import Any, TypeVar

import schemathesis
import yaml
from hypothesis import HealthCheck, settings
from schemathesis.specs.openapi.checks import response_schema_conformance

from contracts import pins

Case = schemathesis.Case[Any]
HASTE = settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
YAML = [response_schema_conformance]
"""A check that reads the YAML before it looks, and the document speaks of its text."""
_T = TypeVar("_T")


def api(name: pins.Name, *modes: schemathesis.GenerationMode) -> Any:
    """A contract, to generate requests from."""
    schema = schemathesis.openapi.from_dict(yaml.safe_load(pins.document(name)))
    schema.config.generation.update(modes=list(modes))
    return schema


@contextmanager
def in_a_thread(context: AbstractAsyncContextManager[_T]) -> Iterator[_T]:
    """What an asynchronous context gives, kept up in a thread of its own: schemathesis speaks without an event loop."""
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever)
    thread.start()
    try:
        yield asyncio.run_coroutine_threadsafe(context.__aenter__(), loop).result(60)
    finally:
        asyncio.run_coroutine_threadsafe(context.__aexit__(None, None, None), loop).result(60)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def whole_numbers(value: Any) -> Any:
    """The same with 2.0 as 2: JSON Schema calls both an integer, the generated models only the second."""
    if isinstance(value, dict):
        return {name: whole_numbers(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [whole_numbers(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
