"""Secrets that clients show: made once, stored as a digest, compared in constant time.

A credential reads `<kind>_<id>_…_<secret>`: ids in hexadecimal, to find it by, and 256 random bits, so that a plain
SHA-256 of them cannot be guessed back.
"""

import hmac
import secrets
from dataclasses import dataclass
from hashlib import sha256
from typing import Self
from uuid import UUID

_DIGEST_OF_NOTHING = sha256(b"").digest()


@dataclass(frozen=True, slots=True)
class Credential:
    """A credential as it is shown.

    Attributes:
        kind: the prefix by which people and scanners know what it is.
        ids: what it is found by.
    """

    kind: str
    ids: tuple[UUID, ...]
    secret: str

    @classmethod
    def new(cls, kind: str, *ids: UUID) -> Self:
        return cls(kind, ids, secrets.token_urlsafe(32))

    @classmethod
    def parse(cls, text: str, kind: str, ids: int = 1) -> Self | None:
        """Read one of a kind with so many ids; None for anything else."""
        prefix, *parts = text.strip().split("_", ids + 1)
        if prefix != kind or len(parts) != ids + 1:
            return None
        try:
            return cls(kind, tuple(UUID(hex=part) for part in parts[:-1]), parts[-1])
        except ValueError:
            return None

    @property
    def digest(self) -> bytes:
        """What is stored of the secret."""
        # A header may hold any bytes; those that are not UTF-8 come as surrogates.
        return sha256(self.secret.encode(errors="surrogateescape")).digest()

    def matches(self, stored: bytes | None) -> bool:
        """Whether this is the secret of which `stored` is the digest; never where nothing is stored."""
        same = hmac.compare_digest(_DIGEST_OF_NOTHING if stored is None else stored, self.digest)
        return same and stored is not None

    def __str__(self) -> str:
        return "_".join([self.kind, *(each.hex for each in self.ids), self.secret])

    def __repr__(self) -> str:
        return f"Credential({self.kind}, {', '.join(map(str, self.ids))})"
