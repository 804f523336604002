"""One web page at an operator's demand: fetched from public addresses only, within limits, and its main text."""

from retrieval_sidecar.fetching.failures import PageFailure, Reason
from retrieval_sidecar.fetching.fetch import Fetched, fetch_page
from retrieval_sidecar.fetching.limits import FetchLimits

__all__ = ["FetchLimits", "Fetched", "PageFailure", "Reason", "fetch_page"]
