"""How much one fetch may take."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Bounds of one fetch, all hops together; DESIGN section 5 has the numbers.

    Attributes:
        max_bytes: of the body once it is unpacked; what travels compressed may not grow past it either.
        seconds: wall clock from the first name look-up to the last byte.
        redirects: followed before the fetch is given up.
        connect_seconds: for one connection: an address that swallows packets leaves time for the name's next.
        url_characters: of an address, typed or redirected to.
    """

    max_bytes: int = 5 * 1024 * 1024
    seconds: float = 15.0
    redirects: int = 5
    connect_seconds: float = 5.0
    url_characters: int = 2048
