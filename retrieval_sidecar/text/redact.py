"""What may be kept of a query in the search log."""

import re

from retrieval_sidecar.text.normalize import for_embedding

_EMAIL = re.compile(r"\S+@\S+")
# Five digits and more, however they are grouped, are a number of somebody: a phone, a card, a birthday.
_LONG_NUMBER = re.compile(r"\+?\d(?:[\W_]{0,3}\d){4,}")


def redact(text: str) -> str:
    """The text, in its normal form, without e-mail addresses and long numbers."""
    return _LONG_NUMBER.sub("[number]", _EMAIL.sub("[email]", for_embedding(text)))
