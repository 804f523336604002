"""What the reading process takes from itself before it looks at a file.

Each measure stands alone: memory and time are bounded everywhere, the network is taken away where the kernel lets an
unprivileged process do so.
"""

import contextlib
import ctypes
import math
import resource
import signal
import sys

from retrieval_sidecar.extraction.limits import Limits

# linux/prctl.h and linux/sched.h
_PR_SET_PDEATHSIG = 1
_PR_SET_NO_NEW_PRIVS = 38
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000


def confine(limits: Limits) -> None:
    """Bound this process and all that it starts."""
    cpu_seconds = math.ceil(limits.seconds)
    _lower(resource.RLIMIT_CPU, cpu_seconds)
    _lower(resource.RLIMIT_AS, limits.memory_bytes)
    _lower(resource.RLIMIT_NOFILE, limits.open_files)
    # No reader needs a file to write to; without one, no disk can be filled. Pipes are not files.
    _lower(resource.RLIMIT_FSIZE, 0)
    _lower(resource.RLIMIT_CORE, 0)
    if sys.platform == "linux":
        libc = ctypes.CDLL(None)
        libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        # A network of its own, with nothing in it. Refused inside some containers: the limits above hold all the same.
        libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET)
        die_with_parent()


def die_with_parent() -> None:
    """Let the kernel end this process when the one that started it ends; between fork and exec it may be called too."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _lower(what: int, value: int) -> None:
    _, hard = resource.getrlimit(what)
    allowed = value if hard == resource.RLIM_INFINITY else min(value, hard)
    # macOS does not know a bound on address space.
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(what, (allowed, allowed))
