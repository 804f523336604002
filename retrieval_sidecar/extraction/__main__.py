"""The process that reads one file: `process.extract` starts it, and nobody else needs to.

The file is its standard input; the limits, and what is known of the file, are its arguments; its answer is one JSON
object on its standard output. It writes nothing else anywhere.
"""

import json
import sys
from dataclasses import asdict
from typing import Any

from retrieval_sidecar.extraction.confinement import confine
from retrieval_sidecar.extraction.limits import Limits
from retrieval_sidecar.extraction.outcome import Extracted, ExtractionFailed, too_much_memory


def main() -> None:
    limits = Limits(**json.loads(sys.argv[1]))
    confine(limits)
    answer = _answer(limits)
    sys.stdout.buffer.write(json.dumps(answer, ensure_ascii=False).encode())


def _answer(limits: Limits) -> dict[str, Any]:
    try:
        return {"extracted": asdict(_read(limits, json.loads(sys.argv[2])))}
    except ExtractionFailed as failed:
        failure = failed
    except (MemoryError, RecursionError):
        failure = too_much_memory()
    except ImportError as error:
        return {"missing": error.name}
    # Out here the traceback is gone, and with it what filled the memory.
    return {"failed": {"reason": failure.reason, "message": str(failure)}}


def _read(limits: Limits, known: dict[str, Any]) -> Extracted:
    from retrieval_sidecar.extraction.readers import read  # noqa: PLC0415 - libraries load under the limits too

    return read(sys.stdin.buffer.read(limits.largest_bytes + 1), limits, **known)


if __name__ == "__main__":
    main()
