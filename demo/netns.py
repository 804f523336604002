"""A network namespace that has only loopback, so that a call between two processes cannot leave the machine.

WebRTC clients offer every address that they find, and may choose one of an outer interface even for a peer next door.
"""

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from typing import Final

# libwebrtc takes no address from lo, so a second interface carries 127.0.0.1 as well.
_SET_UP: Final = (
    "ip link set lo up",
    "ip link add v0 type veth peer name v1",
    "ip addr add 127.0.0.1/32 dev v0",
    "ip link set v0 up",
    "ip link set v1 up",
    'exec "$@"',
)
_TOOLS: Final = {"unshare": "util-linux", "ip": "iproute2"}
_PROBE_S: Final = 20


def command(argv: Sequence[str]) -> list[str]:
    """The command that runs `argv` in a namespace of its own.

    The process that is started becomes `argv`, so its pid, signals and exit status are those of `argv`. Whoever is not
    root appears as root to it, and has no more rights outside than before.
    """
    flags = ["--net"] if os.geteuid() == 0 else ["--user", "--map-root-user", "--net"]
    return ["unshare", *flags, "--", "sh", "-c", " && ".join(_SET_UP), "sh", *argv]


@functools.cache
def available() -> str | None:
    """The reason why no namespace can be made here; None where one can."""
    if not sys.platform.startswith("linux"):
        return "only Linux has them"
    for tool, package in _TOOLS.items():
        if shutil.which(tool) is None:
            return f"the command {tool!r} is missing, package {package}"
    try:
        probe = subprocess.run(command(["true"]), capture_output=True, text=True, timeout=_PROBE_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"making one failed: {error}"
    if probe.returncode != 0:
        return f"making one failed: {probe.stderr.strip() or f'status {probe.returncode}'}"
    return None
