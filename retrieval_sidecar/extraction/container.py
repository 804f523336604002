"""What is in a zip, by its own table of contents."""

import io
import re
import zipfile
import zlib
from pathlib import PurePosixPath

from retrieval_sidecar.extraction.limits import Limits, megabytes
from retrieval_sidecar.extraction.outcome import ExtractionFailed, Reason

_CONTENT_TYPES = "[Content_Types].xml"
_ODF_MIMETYPE = "mimetype"
_ODF_MANIFEST = "META-INF/manifest.xml"
_LARGEST_TABLE = 1024 * 1024
# ECMA-376 part 2, 10.1.2.3: the content type of the part at the package's root says what the package is. Macros are
# another type of the same document: they are not run here, and the text is read.
_MAIN_PART = re.compile(
    r"application/vnd\.(?:openxmlformats-officedocument\.(wordprocessingml\.(?:document|template)"
    r"|presentationml\.(?:presentation|slideshow|template)|spreadsheetml\.(?:sheet|template))"
    r"|ms-(word|powerpoint|excel)\.(?:document|template|presentation|slideshow|sheet)\.macroEnabled)\.main\+xml",
    re.IGNORECASE,
)
_OOXML = "application/vnd.openxmlformats-officedocument."
_FAMILIES = {
    "word": "wordprocessingml.document",
    "powerpoint": "presentationml.presentation",
    "presentationml": "presentationml.presentation",
    "excel": "spreadsheetml.sheet",
    "spreadsheetml": "spreadsheetml.sheet",
    "wordprocessingml": "wordprocessingml.document",
}


def media_type(content: bytes, limits: Limits) -> str:
    """The media type that an office file declares inside; "a ZIP archive" where it declares none.

    Raises:
        ExtractionFailed: damaged, locked, or unpacking to more than is allowed.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            _check(archive, limits)
            names = set(archive.namelist())
            if _CONTENT_TYPES in names:
                return _ooxml(_read(archive, _CONTENT_TYPES))
            if _ODF_MIMETYPE in names:
                if _ODF_MANIFEST in names and b"encryption-data" in _read(archive, _ODF_MANIFEST):
                    raise _locked()
                return _read(archive, _ODF_MIMETYPE).decode("ascii", "replace").strip()
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, UnicodeError, ValueError, OSError) as error:
        raise ExtractionFailed(
            Reason.DAMAGED, "The file is damaged: it cannot be unpacked. Save or download it again, and upload that."
        ) from error
    return "a ZIP archive"


def _check(archive: zipfile.ZipFile, limits: Limits) -> None:
    members = archive.infolist()
    if any(member.flag_bits & 1 for member in members):
        raise _locked()
    if len(members) > limits.office_parts:
        raise ExtractionFailed(
            Reason.TOO_LARGE,
            f"The file has {len(members):,} parts inside; at most {limits.office_parts:,} are allowed. Split it.",
        )
    unpacked = sum(member.file_size for member in members)
    if unpacked > limits.office_unpacked_bytes:
        raise ExtractionFailed(
            Reason.TOO_LARGE,
            f"The file unpacks to {megabytes(unpacked)}; at most {megabytes(limits.office_unpacked_bytes)} are "
            "allowed. Split the document, or save it without its pictures.",
        )
    # Nothing is unpacked to disk, so these can do no harm here; but no office program writes them.
    if any(_leads_out(member.filename) for member in members):
        raise ExtractionFailed(
            Reason.DAMAGED,
            "The file names parts outside of itself, which no office program does. Save it again from the program "
            "that it was made with, and upload that.",
        )


def _leads_out(name: str) -> bool:
    path = PurePosixPath(name.replace("\\", "/"))
    return path.is_absolute() or ".." in path.parts


def _read(archive: zipfile.ZipFile, name: str) -> bytes:
    with archive.open(name) as part:
        return part.read(_LARGEST_TABLE)


def _ooxml(content_types: bytes) -> str:
    found = _MAIN_PART.search(content_types.decode("utf-8", "replace"))
    if found is None:
        return "an Office Open XML file without a document, presentation or workbook"
    family = (found[1] or found[2]).split(".")[0].lower()
    return _OOXML + _FAMILIES[family]


def _locked() -> ExtractionFailed:
    return ExtractionFailed(
        Reason.ENCRYPTED, "The file is locked with a password. Save a copy without one, and upload that."
    )
