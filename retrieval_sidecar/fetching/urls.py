"""Which addresses people may give, read once and in one way.

yarl reads, and encodes names by IDNA, so that a look-alike letter gives the `xn--` name that it is and never the name
it looks like. What it lets through is narrowed here to what means the same to every program that will see it.
"""

import re
from urllib.parse import urlsplit

from yarl import URL

from retrieval_sidecar.fetching.addresses import WhyRefused, why_refused, why_text_refused
from retrieval_sidecar.fetching.failures import PageFailure, Reason

_PORTS = frozenset({80, 443})
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_NAME = re.compile(r"(?=.{1,253}$)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*")
# What inet_aton, and so many a resolver, takes for an IPv4 address: 2130706433, 0177.0.0.1, 0x7f.1, 127.1.
_NUMBER_LAST = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)")


def parse_url(text: str, *, base: URL | None = None, max_characters: int = 2048, rule: WhyRefused = why_refused) -> URL:
    """An address that may be fetched, in its one normal form: without fragment, default port and final dot.

    Args:
        text: as typed, or as a redirect gives it.
        base: where the redirect comes from; without it `text` must be complete.
        max_characters: of the text.
        rule: says why an address written in numbers is refused, None where it is not.

    Raises:
        PageFailure: not_a_web_address, scheme_refused, port_refused, credentials_refused, address_refused.
    """
    text = text.strip()
    if len(text) > max_characters or _CONTROL.search(text):
        raise PageFailure(Reason.NOT_A_WEB_ADDRESS)
    try:
        authority = urlsplit(text).netloc  # yarl forgets an empty userinfo, and brackets around no address
        url = URL(text) if base is None else base.join(URL(text))
        str(url).encode("ascii")  # half of a surrogate pair, as in a header of broken bytes
    except ValueError:
        raise PageFailure(Reason.NOT_A_WEB_ADDRESS) from None
    if url.scheme not in {"http", "https"}:
        raise PageFailure(Reason.SCHEME_REFUSED if url.scheme else Reason.NOT_A_WEB_ADDRESS)
    if "@" in authority or url.raw_user is not None or url.raw_password is not None:
        raise PageFailure(Reason.CREDENTIALS_REFUSED)
    host = _host(url, rule)
    if "[" in authority and ":" not in host:
        raise PageFailure(Reason.NOT_A_WEB_ADDRESS)
    if url.port not in _PORTS:
        raise PageFailure(Reason.PORT_REFUSED)
    return url.with_host(host).with_fragment(None)


def _host(url: URL, rule: WhyRefused) -> str:
    host = (url.raw_host or "").lower()
    if ":" in host:
        literal = True
    else:
        host = host.removesuffix(".")
        literal = bool(_NUMBER_LAST.fullmatch(host))
        if not literal and not _NAME.fullmatch(host):
            raise PageFailure(Reason.NOT_A_WEB_ADDRESS)
    if literal and (why := why_text_refused(host.replace("%25", "%"), rule)):
        raise PageFailure(Reason.ADDRESS_REFUSED, host="This address", detail=why)
    return host
