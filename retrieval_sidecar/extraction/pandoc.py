"""DOCX, ODT and RTF, by pandoc: a program of its own, here without access to anything but its input."""

import signal
import subprocess
from importlib.resources import files

from retrieval_sidecar.extraction import html
from retrieval_sidecar.extraction.confinement import die_with_parent
from retrieval_sidecar.extraction.document import Document
from retrieval_sidecar.extraction.limits import Limits
from retrieval_sidecar.extraction.outcome import ExtractionFailed, Reason, too_much_memory, too_slow

_HEAP_SHARE = 0.7  # of the address space: its collector copies, and needs the rest
_HEAP_EXHAUSTED = 251  # GHC's exit status, of its own bound and of the system's


def read(content: bytes, source: str, limits: Limits) -> Document:
    """Text by way of HTML, which knows cells of several paragraphs and cells over several columns.

    Raises:
        ExtractionFailed: pandoc does not understand it, or needs more time or memory than is allowed.
    """
    program = str(files("pypandoc").joinpath("files", "pandoc"))
    heap = f"-M{int(limits.memory_bytes * _HEAP_SHARE)}"
    command = [program, "+RTS", heap, "-RTS", "--sandbox", "--quiet", "--wrap", "none", "--standalone"]
    done = subprocess.run(  # noqa: S603 - a fixed command; the file comes by its standard input
        [*command, "--from", source, "--to", "html5"],
        input=content,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        preexec_fn=die_with_parent,  # safe here: this process has one thread
        check=False,
    )
    if done.returncode == _HEAP_EXHAUSTED:
        raise too_much_memory()
    if done.returncode == -signal.SIGXCPU:
        raise too_slow(limits)
    if done.returncode:
        raise ExtractionFailed(
            Reason.DAMAGED,
            "The file is damaged: what is inside is not what such a file must have. Open it in the program that it "
            "was made with, save it again, and upload that.",
        )
    return html.read(done.stdout.decode("utf-8", "replace"), limits)
