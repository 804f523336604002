"""One response of a realtime model: as it comes, or ended where the caller has waited enough, with other words."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, Callable
from typing import Any, Final, Literal, TypeVar
from uuid import uuid4

from livekit.agents.llm import GenerationCreatedEvent, MessageGeneration

from worker.deadline import Deadline
from worker.reply import BETWEEN_S, code_of, short_code

_SOUNDS: Final = frozenset({"response.output_audio.delta", "response.output_text.delta"})
_END: Final = object()

Modalities = list[Literal["text", "audio"]]
Report = Callable[[str | None], str | None]
T = TypeVar("T")


class RealtimeReply:
    """Follows a response by the server's events, so that its streams never outlast the caller's patience.

    Args:
        patience_s: seconds to its first sound or call of a tool.
        report: takes the code of a failure, or `None` for a reply that came, and gives the words to
            say in its place; no words where somebody else speaks now.
        cancel: tells the model that nobody waits any more.
        may_call: whether a call of a tool is carried out; it is not after the last step of a turn.
    """

    def __init__(self, patience_s: float, report: Report, cancel: Callable[[], None], *, may_call: bool) -> None:
        self._deadline = Deadline.after(patience_s)
        self._report, self._cancel, self._may_call = report, cancel, may_call
        self._sign, self._over = asyncio.Event(), asyncio.Event()
        self._told = self._called = self._stopped = False
        self._status: str | None = None
        self._code: str | None = None

    async def begin(self, created: asyncio.Future[GenerationCreatedEvent]) -> GenerationCreatedEvent:
        """The response once the model has begun it, or words in its place; never an error."""
        try:
            event = await self._created(created)
        except Exception as error:  # noqa: BLE001 - whatever a provider's library raises, the caller hears words
            self._code = self._code or code_of(error)
            return GenerationCreatedEvent(self._instead(), _nothing(), user_initiated=True)
        watch = asyncio.create_task(self._watch())
        messages = self._messages(event.message_stream, watch)
        calls = _until(event.function_stream, self._over)
        return GenerationCreatedEvent(messages, calls, user_initiated=True, response_id=event.response_id)

    async def _created(self, created: asyncio.Future[GenerationCreatedEvent]) -> GenerationCreatedEvent:
        over = asyncio.ensure_future(self._over.wait())
        either: set[asyncio.Future[Any]] = {created, over}
        try:
            await asyncio.wait(either, timeout=self._deadline.remaining(), return_when=asyncio.FIRST_COMPLETED)
            if created.done():
                return created.result()
            raise TimeoutError
        finally:
            over.cancel()
            created.cancel()  # by which the model learns that nobody waits any more

    def take(self, event: dict[str, Any]) -> None:
        """Take an event of the server's that belongs to this response."""
        kind = event["type"]
        if kind in _SOUNDS:
            self._told = True
        elif kind == "response.output_item.done" and event["item"]["type"] == "function_call":
            self._called = self._called or self._may_call
        elif kind == "response.done":
            self._end(event["response"])
        self._sign.set()

    def break_off(self, code: str) -> None:
        """Nothing more will come of it."""
        if self._status is None:
            self._code = self._code or code
            self._over.set()

    def stop(self) -> None:
        """The caller speaks, or something else is said: nothing more of it, and nothing in its place."""
        self._stopped = True
        self._over.set()

    def _end(self, response: dict[str, Any]) -> None:
        self._status = response["status"]
        details = response.get("status_details") or {}
        if self._status == "failed":
            error = details.get("error") or {}
            self._code = self._code or short_code(str(error.get("code") or error.get("type") or "failed"))

    async def _watch(self) -> None:
        """Give up where the first sound is late, or the next."""
        try:
            while self._status is None:
                left = BETWEEN_S if self._told or self._called else self._deadline.remaining()
                async with asyncio.timeout(left):
                    await self._sign.wait()
                self._sign.clear()
        except TimeoutError:
            self.break_off("TimeoutError")
            self._cancel()

    async def _messages(
        self, stream: AsyncIterable[MessageGeneration], watch: asyncio.Task[None]
    ) -> AsyncGenerator[MessageGeneration, None]:
        try:
            async for message in _until(stream, self._over):
                yield MessageGeneration(
                    message.message_id,
                    text_stream=_until(message.text_stream, self._over),
                    audio_stream=_until(message.audio_stream, self._over),
                    modalities=asyncio.ensure_future(self._modalities(message)),
                )
        finally:
            watch.cancel()
        if self._status is None and not self._code:
            self._code = "connection"  # the streams end before the response where the connection breaks
        elif not (self._code or self._told or self._called):
            self._code = "empty"
        async for words in self._instead():
            yield words

    async def _modalities(self, message: MessageGeneration) -> Modalities:
        known = asyncio.ensure_future(message.modalities)
        over = asyncio.ensure_future(self._over.wait())
        await asyncio.wait({known, over}, return_when=asyncio.FIRST_COMPLETED)
        over.cancel()
        return known.result() if known.done() else ["audio", "text"]

    async def _instead(self) -> AsyncGenerator[MessageGeneration, None]:
        """Say what became of it, and give the words that stand in its place: as text, so that the voice says them."""
        if self._stopped or self._status == "cancelled":
            return
        words = self._report(self._code)
        if self._code and words and not self._called:
            modalities: asyncio.Future[Modalities] = asyncio.get_running_loop().create_future()
            modalities.set_result(["text"])
            yield MessageGeneration(f"instead_{uuid4().hex}", _one(words), _nothing(), modalities)


async def _until(stream: AsyncIterable[T], over: asyncio.Event) -> AsyncGenerator[T, None]:
    """What the stream gives, until it ends or `over` is set."""
    items = aiter(stream)
    stop = asyncio.ensure_future(over.wait())
    try:
        while not over.is_set():
            following: asyncio.Future[Any] = asyncio.ensure_future(anext(items, _END))
            try:
                await asyncio.wait({following, stop}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                if not following.done():
                    following.cancel()
            if not following.done() or following.cancelled() or (item := following.result()) is _END:
                return
            yield item
    finally:
        stop.cancel()


async def _one(words: str) -> AsyncGenerator[str, None]:
    yield words


async def _nothing() -> AsyncGenerator[Any, None]:
    for nothing in tuple[Any, ...]():
        yield nothing
