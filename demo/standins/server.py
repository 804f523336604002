"""The stand-ins behind OpenAI's HTTP interface, as livekit-plugins-openai calls it."""

import contextlib
import hmac
import uuid
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np
from aiohttp import web
from pydantic import ValidationError

from demo import audio
from demo.standins import wire
from demo.standins.espeak import EspeakError
from demo.standins.faults import Endpoint, Faults, Handler
from demo.standins.journal import Journal
from demo.standins.realtime.offline import OfflineModel
from demo.standins.realtime.session import Session
from demo.standins.recognizer import RecognizerProcess
from demo.standins.responder import Search, respond
from demo.standins.voice import WORDS_PER_MINUTE, speak_off_loop

PCM_RATE: Final = 24000  # OpenAI's raw PCM, and what the plugin expects of any answer
MODELS: Final = ("standin-recognizer", "standin-responder", "standin-voice", "standin-realtime")
_WARM_UP: Final = np.zeros(PCM_RATE // 10, dtype=np.int16)  # loads the models before the first caller speaks
_LARGEST_UPLOAD: Final = 25 * 1024 * 1024
_LARGEST_MESSAGE: Final = 32 * 1024 * 1024  # of a socket: 15 MiB of sound as base64, and room
_LONGEST_INPUT: Final = 4096


class StandIns:
    """The endpoints and what they share.

    Args:
        sentences: what callers are expected to say; everything else is transcribed as "".
        journal: a file to append the record to.
        api_key: the bearer key that requests must carry; None to ask for none.
        delays: seconds that an endpoint waits before each answer.
        voice_variant: espeak-ng variant of the agent's voice.
    """

    def __init__(
        self,
        sentences: Iterable[str],
        *,
        journal: Path | None = None,
        api_key: str | None = None,
        delays: Mapping[Endpoint, float] | None = None,
        voice_variant: str = "",
    ) -> None:
        self.journal = Journal(journal)
        self.faults = Faults(delays)
        self._recognizer = RecognizerProcess(sentences)
        self._api_key = api_key
        self._variant = voice_variant

    def app(self) -> web.Application:
        app = web.Application(
            middlewares=[self._as_openai_errors, self._authenticate, self.faults.middleware],
            client_max_size=_LARGEST_UPLOAD,
        )
        app.on_response_prepare.append(_number)
        app.router.add_get(Endpoint.MODELS, self._models)
        app.router.add_post(Endpoint.TRANSCRIPTIONS, self._transcriptions)
        app.router.add_post(Endpoint.SPEECH, self._speech)
        app.router.add_post(Endpoint.COMPLETIONS, self._completions)
        app.router.add_get(Endpoint.REALTIME, self._realtime)
        app.router.add_post("/standins/faults", self.faults.handle)
        return app

    @asynccontextmanager
    async def serve(self, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
        """Serves while the block runs; yields the base URL for OpenAI's clients (ends in /v1).

        Raises:
            OSError: the address is taken.
        """
        await self._recognizer.transcribe(_WARM_UP, PCM_RATE)
        runner = web.AppRunner(self.app(), access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        try:
            await web.TCPSite(runner, host, port).start()
            yield f"http://{host}:{runner.addresses[0][1]}/v1"
        finally:
            await runner.cleanup()
            await self._recognizer.aclose()
            self.journal.close()

    @web.middleware
    async def _as_openai_errors(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            return await handler(request)
        except web.HTTPException as http_error:
            return wire.error(http_error.status, http_error.reason)
        except wire.ApiError as refused:
            return wire.error(refused.status, str(refused))
        except (ValidationError, audio.UnsupportedAudioError) as invalid:
            return wire.error(400, str(invalid))

    @web.middleware
    async def _authenticate(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if self._api_key is not None:
            given = request.headers.get("Authorization", "").encode()
            if not hmac.compare_digest(given, f"Bearer {self._api_key}".encode()):
                return wire.error(401, "Incorrect API key provided.", code="invalid_api_key")
        return await handler(request)

    async def _models(self, _request: web.Request) -> web.Response:
        models = [{"id": name, "object": "model", "created": 0, "owned_by": "demo"} for name in MODELS]
        return web.json_response({"object": "list", "data": models})

    async def _transcriptions(self, request: web.Request) -> web.Response:
        with self.journal.record("recognition") as entry:
            form = await request.post()
            upload = form.get("file")
            if not isinstance(upload, web.FileField):
                raise wire.ApiError(400, "a file is required")
            samples, rate = audio.from_wav(upload.file.read())
            heard = await self._recognizer.transcribe(samples, rate)
            seconds = len(samples) / rate
            entry.update(text=heard.text, confidence=heard.confidence, audio_seconds=round(seconds, 3))
        return _transcription(heard.text, seconds, form)

    async def _speech(self, request: web.Request) -> web.Response:
        with self.journal.record("synthesis") as entry:
            body = wire.SpeechRequest.model_validate_json(await request.read())
            if not body.input.strip() or len(body.input) > _LONGEST_INPUT:
                raise wire.ApiError(400, f"input must have 1 to {_LONGEST_INPUT} characters")
            if body.response_format not in ("pcm", "wav"):
                raise wire.ApiError(400, "this voice answers in the formats pcm and wav only")
            pace = min(max(round(WORDS_PER_MINUTE * body.speed), 80), 450)
            try:
                samples = await speak_off_loop(body.input, PCM_RATE, variant=self._variant, words_per_minute=pace)
            except EspeakError as failed:
                raise wire.ApiError(500, str(failed)) from failed
            entry.update(text=body.input, audio_seconds=round(len(samples) / PCM_RATE, 3))
        if body.response_format == "pcm":
            return web.Response(body=samples.tobytes(), content_type="audio/pcm")
        return web.Response(body=audio.to_wav(samples, PCM_RATE), content_type="audio/wav")

    async def _completions(self, request: web.Request) -> web.StreamResponse:
        with self.journal.record("completion") as entry:
            body = wire.ChatRequest.model_validate_json(await request.read())
            if not body.messages:
                raise wire.ApiError(400, "messages must not be empty")
            reply = respond(body.messages, can_search=body.can_search)
            if isinstance(reply, Search):
                entry.update(tool_query=reply.query)
            else:
                entry.update(text=reply.text)
        if not body.stream:
            return web.json_response(wire.completion(body, reply))
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        with contextlib.suppress(ConnectionResetError):  # the caller spoke, so the agent hung up on us
            await response.prepare(request)
            for chunk in wire.completion_chunks(body, reply):
                await response.write(chunk)
            await response.write_eof()
        return response

    async def _realtime(self, request: web.Request) -> web.WebSocketResponse:
        name = request.query.get("model")
        if not name:
            raise wire.ApiError(400, "a model is required")
        socket = web.WebSocketResponse(max_msg_size=_LARGEST_MESSAGE)
        await socket.prepare(request)
        model = OfflineModel(self._recognizer, self.journal, voice_variant=self._variant)
        await Session(socket, model, name, self.faults, self.journal).run()
        return socket


async def _number(_request: web.Request, response: web.StreamResponse) -> None:
    response.headers["x-request-id"] = f"req_{uuid.uuid4().hex}"


def _transcription(text: str, seconds: float, form: Mapping[str, Any]) -> web.Response:
    match form.get("response_format", "json"):
        case "text":
            return web.Response(text=text)
        case "verbose_json":
            language = str(form.get("language", "en"))
            detail = {"task": "transcribe", "language": language, "duration": seconds, "segments": []}
            return web.json_response({**detail, "text": text})
        case _:
            return web.json_response({"text": text})
