"""Files as browsers and curl send them: one part of a form, taken in as it comes."""

import unicodedata
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import unquote

from aiohttp import BodyPartReader, MultipartReader, web
from aiohttp.http_exceptions import BadHttpMessage
from aiohttp.web_protocol import RequestPayloadError

from retrieval_sidecar.errors import InvalidRequest, UnsupportedMedia
from retrieval_sidecar.http.requests import refuse_parameters
from retrieval_sidecar.text.normalize import for_embedding

_PIECE_BYTES = 256 * 1024
_LONGEST_NAME = 200
# A name becomes a folder's key, percent-encoded, which has at most 2,000 characters.
_LONGEST_NAME_BYTES = 650
_LONGEST_SUFFIX = 20
_NAMELESS = "upload"
_AS_IT_IS = ("binary", "8bit", "7bit")


@dataclass(frozen=True, slots=True)
class IncomingFile:
    """A file that is on its way in.

    Attributes:
        name: fit to be shown.
        content: in pieces; ends with an InvalidRequest where the form holds more, or less, than this one file.
    """

    name: str
    content: AsyncIterator[bytes]


async def read_file(request: web.Request) -> IncomingFile:
    """The file of a form whose one part is named `file`.

    Raises:
        UnsupportedMedia: no multipart/form-data.
        InvalidRequest: no such part, or something else first.
    """
    if request.content_type != "multipart/form-data":
        raise UnsupportedMedia("multipart/form-data with one part named file")
    refuse_parameters(request)
    with _read_as_form():
        reader = await request.multipart()
        part = await reader.next()
    if part is None:
        raise InvalidRequest.of("file", "must be there: a part of the form with this name")
    if not isinstance(part, BodyPartReader):
        raise InvalidRequest.of("file", "must be a file, not another form")
    if part.name != "file" or part.filename is None:
        raise InvalidRequest.of("file", "must be the only part of the form, with the file's name")
    if part.headers.get("Content-Transfer-Encoding", "binary").lower() not in _AS_IT_IS:
        raise InvalidRequest.of("file", "must be sent as it is, without a Content-Transfer-Encoding")
    return IncomingFile(display_name(_unquoted(part.filename)), _pieces(reader, part))


async def _pieces(reader: MultipartReader, part: BodyPartReader) -> AsyncIterator[bytes]:
    size = 0
    while not part.at_eof():
        with _read_as_form():
            piece = await part.read_chunk(_PIECE_BYTES)
        size += len(piece)
        if piece:
            yield piece
    if size == 0:
        raise InvalidRequest.of("file", "must not be empty")
    with _read_as_form():
        another = await reader.next()
    if another is not None:
        raise InvalidRequest.of("file", "must be the only part of the form")


@contextmanager
def _read_as_form() -> Iterator[None]:
    try:
        yield
    except (ValueError, RuntimeError, AssertionError, BadHttpMessage, RequestPayloadError):
        # Of these its readers raise one or another for a form that is cut off or none.
        raise InvalidRequest.of("body", "cannot be read as multipart/form-data to its end") from None


def _unquoted(name: str) -> str:
    """Without percent signs, in which some clients send what is not ASCII and all send quotes."""
    try:
        return unquote(name, errors="strict")
    except UnicodeError:
        return name


def display_name(sent: str) -> str:
    """A file's name to be shown: without a path, control characters or more than 200 characters; never empty."""
    text = unicodedata.normalize("NFC", sent.encode("utf-8", "replace").decode("utf-8", "replace"))
    # What cannot be seen may hide what the name says, or turn it round; joiners are letters' own.
    shown = "".join(c if _is_shown(c) else " " for c in text.replace("\\", "/"))
    name = " ".join(shown.rpartition("/")[2].split()).strip(". ")
    stem, dot, suffix = name.rpartition(".")
    end = dot + suffix if stem and len(suffix) <= _LONGEST_SUFFIX else ""
    stem = name.removesuffix(end)
    while len(stem + end) > _LONGEST_NAME or len((stem + end).encode()) > _LONGEST_NAME_BYTES:
        stem = stem[:-1]
    shortened = stem.rstrip() + end
    return shortened if for_embedding(shortened) else _NAMELESS


def _is_shown(character: str) -> bool:
    return character in "\u200c\u200d" or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
