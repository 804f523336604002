"""Why a page could not be had: a code for programs, a sentence for the person who asked."""

from enum import StrEnum

from retrieval_sidecar.errors import SidecarError


class Reason(StrEnum):
    """Stable codes; the docs and the console know them by these values."""

    NOT_A_WEB_ADDRESS = "not_a_web_address"
    SCHEME_REFUSED = "scheme_refused"
    PORT_REFUSED = "port_refused"
    CREDENTIALS_REFUSED = "credentials_refused"
    ADDRESS_REFUSED = "address_refused"
    NAME_NOT_FOUND = "name_not_found"
    NOT_REACHABLE = "not_reachable"
    CERTIFICATE_REFUSED = "certificate_refused"
    TOO_MANY_REDIRECTS = "too_many_redirects"
    REDIRECT_BROKEN = "redirect_broken"
    PAGE_NOT_FOUND = "page_not_found"
    ACCESS_DENIED = "access_denied"
    SERVER_ERROR = "server_error"
    STATUS_UNEXPECTED = "status_unexpected"
    TOO_LARGE = "too_large"
    TOO_SLOW = "too_slow"
    BROKEN_ANSWER = "broken_answer"
    ENCODING_REFUSED = "encoding_refused"
    TYPE_REFUSED = "type_refused"
    TEXT_UNREADABLE = "text_unreadable"
    EMPTY = "empty"


_RETRYABLE = frozenset({Reason.NOT_REACHABLE, Reason.SERVER_ERROR, Reason.TOO_SLOW, Reason.BROKEN_ANSWER})

_SENTENCES = {
    Reason.NOT_A_WEB_ADDRESS: "This is not a web address; give one such as https://help.example.com/returns.",
    Reason.SCHEME_REFUSED: "Only http:// and https:// addresses are fetched; give the page's web address.",
    Reason.PORT_REFUSED: "Only the usual web ports, 80 and 443, are fetched; give an address without a port.",
    Reason.CREDENTIALS_REFUSED: (
        "An address with a user name or password before the @ is not fetched; "
        "publish the page, or download it and add it as a file."
    ),
    Reason.ADDRESS_REFUSED: (
        "{host} is not on the public internet ({detail}), and only public pages are fetched; "
        "download the page and add it as a file."
    ),
    Reason.NAME_NOT_FOUND: "There is no website named {host}; check the address for a typing error.",
    Reason.NOT_REACHABLE: "{host} cannot be reached just now; check that the site is up, then try again.",
    Reason.CERTIFICATE_REFUSED: (
        "{host} cannot be trusted: its certificate is not valid for this name; "
        "have the site's certificate put right, or download the page and add it as a file."
    ),
    Reason.TOO_MANY_REDIRECTS: "The address redirects more than {detail} times; give the address where it ends.",
    Reason.REDIRECT_BROKEN: "{host} redirects to nowhere; open the page in a browser and give the address shown there.",
    Reason.PAGE_NOT_FOUND: "{host} says that this page does not exist (HTTP {detail}); check the address.",
    Reason.ACCESS_DENIED: (
        "{host} does not show this page to everybody (HTTP {detail}); "
        "publish the page, or download it and add it as a file."
    ),
    Reason.SERVER_ERROR: "{host} has trouble of its own just now (HTTP {detail}); try again later.",
    Reason.STATUS_UNEXPECTED: "{host} answers with no page (HTTP {detail}); check the address in a browser.",
    Reason.TOO_LARGE: (
        "The page is larger than {detail} bytes; give the address of a smaller page, or add its parts as files."
    ),
    Reason.TOO_SLOW: (
        "The page was not complete after {detail} seconds; try again, or download it and add it as a file."
    ),
    Reason.BROKEN_ANSWER: (
        "{host} broke off or garbled its answer; try again, or download the page and add it as a file."
    ),
    Reason.ENCODING_REFUSED: (
        "{host} compresses the page in a way that was not asked for; download the page and add it as a file."
    ),
    Reason.TYPE_REFUSED: (
        "What is at this address is neither a web page nor a PDF, Markdown or plain text; "
        "download it and add it as a file."
    ),
    Reason.TEXT_UNREADABLE: (
        "The page's characters cannot be read, whatever encoding it claims; save it as UTF-8 and add it as a file."
    ),
    Reason.EMPTY: "The page is empty; check the address in a browser.",
}


class PageFailure(SidecarError):
    """A page that was not had.

    `str()` of it says why and what to do. It may name the host, and nothing else of an address: paths and queries hold
    names and keys. Raised without its cause (`from None`), whose text may hold the whole address.

    Attributes:
        reason: the stable code.
    """

    def __init__(self, reason: Reason, *, host: str | None = None, detail: str | float = "") -> None:
        super().__init__(_SENTENCES[reason].format(host=host or "The site", detail=detail))
        self.reason = reason

    @property
    def retryable(self) -> bool:
        """Whether the same address may well answer later."""
        return self.reason in _RETRYABLE
