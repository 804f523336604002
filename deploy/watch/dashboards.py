"""The dashboards for Grafana, each written to a file of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parent / "dashboards"
_WIDTH, _HEIGHT, _A_ROW = 8, 7, 3


@dataclass(frozen=True, slots=True)
class Panel:
    """One picture.

    Attributes:
        title: what it shows.
        queries: PromQL by the legend; a legend may hold `{{label}}`.
        unit: as Grafana calls it.
        limit: the objective, drawn as a line.
    """

    title: str
    queries: Mapping[str, str]
    unit: str = "short"
    limit: float | None = None


def quantiles(metric: str, by: str = "", where: str = "") -> dict[str, str]:
    """Half and the slowest twentieth of a histogram, by a label if one is named."""
    labels, legend = (f"{by}, le", f"{{{{{by}}}}} ") if by else ("le", "")
    return {
        f"{legend}p{percent}": f"histogram_quantile({percent / 100}, "
        f"sum by ({labels}) (rate({metric}_bucket{where}[$__rate_interval])))"
        for percent in (50, 95)
    }


def rates(metric: str, by: str, where: str = "") -> dict[str, str]:
    """How often a second, by a label."""
    return {f"{{{{{by}}}}}": f"sum by ({by}) (rate({metric}{where}[$__rate_interval]))"}


CALLS: Final = (
    Panel("Calls under way", {"calls": "sum(answerline_worker_active_calls)"}),
    Panel(
        "Calls begun",
        {
            "opened": "sum(rate(answerline_calls_started_total[$__rate_interval]))",
            "an agent found": "sum(rate(answerline_worker_calls_started_total[$__rate_interval]))",
        },
        "reqps",
    ),
    Panel("Calls ended, by status", rates("answerline_calls_ended_total", "status"), "reqps"),
    Panel(
        "Calls without a terminal status",
        {"open": "max(answerline_calls_open)", "silent": "max(answerline_calls_silent)"},
    ),
    Panel("Last word → answer's first sound", quantiles("answerline_turn_answer_seconds", "searched"), "s", 4.0),
    Panel("Last word → any sound", quantiles("answerline_turn_first_audio_seconds"), "s", 2.0),
    Panel("Last word → phrase while a search runs", quantiles("answerline_turn_filler_seconds"), "s"),
    Panel("Answers later than 4 s", {"share": "answerline:answers_late:ratio_rate10m"}, "percentunit", 0.05),
    Panel("Turns, by what came of them", rates("answerline_turns_total", "outcome"), "reqps"),
    Panel("The model waits for a search", quantiles("answerline_tool_search_duration_seconds", "status"), "s", 4.0),
    Panel("Searches ahead", rates("answerline_searches_ahead_total", "result"), "reqps"),
    Panel("Saved by searching ahead", quantiles("answerline_search_ahead_saved_seconds"), "s"),
    Panel("Errors, by their source", rates("answerline_worker_errors_total", "source"), "reqps"),
    Panel(
        "Answers that had no search",
        {"a second": "sum(rate(answerline_answered_without_search_total[$__rate_interval]))"},
        "reqps",
    ),
    Panel(
        "Cost an hour, by kind of model", {"{{kind}}": "sum by (kind) (rate(answerline_usage_cost_total[1h])) * 3600"}
    ),
    Panel("Models without a price", rates("answerline_usage_unpriced_total", "kind"), "reqps"),
)
KNOWLEDGE: Final = (
    Panel(
        "Searches, by status", rates("answerline_search_duration_seconds_count", "status", '{step="total"}'), "reqps"
    ),
    Panel("A search, by step", quantiles("answerline_search_duration_seconds", "step"), "s", 0.15),
    Panel("Searches that fail", {"share": "answerline:searches_failed:ratio_rate5m"}, "percentunit", 0.02),
    Panel(
        "Searches that find nothing", {"share": "answerline:searches_without_match:ratio_rate1h"}, "percentunit", 0.4
    ),
    Panel(
        "Searches by words alone",
        {
            "a second": "sum(rate(answerline_degraded_searches_total[$__rate_interval]))",
            "service left alone": "max(answerline_embedding_circuit_open)",
        },
    ),
    Panel(
        "Requests, by status", rates("http_server_request_duration_seconds_count", "http_response_status_code"), "reqps"
    ),
    Panel(
        "Requests, by route (p95)",
        {
            "{{http_route}}": "histogram_quantile(0.95, sum by (http_route, le) "
            "(rate(http_server_request_duration_seconds_bucket[$__rate_interval])))"
        },
        "s",
    ),
    Panel("Waiting for a turn (p95)", {"{{queue}}": "answerline:queue_wait:p95_5m"}, "s", 0.1),
    Panel("Turns in use", {"{{queue}}": "answerline:queue_full:ratio"}, "percentunit", 0.9),
    Panel("Who waits", {"{{queue}}": "sum by (queue) (answerline_queue_waiting)"}),
    Panel("Load that is shed", rates("answerline_queue_shed_total", "queue"), "reqps"),
    Panel("Jobs in the queue", {"{{state}}": "max by (state) (answerline_ingest_jobs)"}),
    Panel(
        "How long sources wait",
        {"due": "max(answerline_ingest_lag_seconds)", "being read": "max(answerline_ingest_oldest_run_seconds)"},
        "s",
        600.0,
    ),
    Panel(
        "Readings, by what came of them", rates("answerline_ingest_attempt_duration_seconds_count", "outcome"), "reqps"
    ),
    Panel("Memory", {"{{instance}}": 'process_resident_memory_bytes{job="answerline"}'}, "bytes"),
)
DASHBOARDS: Final[Mapping[str, tuple[str, Sequence[Panel]]]] = {
    "calls": ("Answerline: what callers hear", CALLS),
    "knowledge": ("Answerline: searches, queues, sources", KNOWLEDGE),
}


def dashboard(name: str) -> dict[str, Any]:
    """What Grafana reads."""
    title, panels = DASHBOARDS[name]
    return {
        "uid": f"answerline-{name}",
        "title": title,
        "tags": ["answerline"],
        "schemaVersion": 39,
        "editable": True,
        "refresh": "30s",
        "time": {"from": "now-3h", "to": "now"},
        "templating": {
            "list": [{"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus"}]
        },
        "panels": [_panel(number, panel) for number, panel in enumerate(panels)],
    }


def _panel(number: int, panel: Panel) -> dict[str, Any]:
    source = {"type": "prometheus", "uid": "${datasource}"}
    limit = [] if panel.limit is None else [{"color": "red", "value": panel.limit}]
    return {
        "id": number + 1,
        "type": "timeseries",
        "title": panel.title,
        "datasource": source,
        "gridPos": {
            "x": number % _A_ROW * _WIDTH,
            "y": number // _A_ROW * _HEIGHT,
            "w": _WIDTH,
            "h": _HEIGHT,
        },
        "fieldConfig": {
            "defaults": {
                "unit": panel.unit,
                "min": 0,
                "custom": {"thresholdsStyle": {"mode": "line" if limit else "off"}},
                "thresholds": {"mode": "absolute", "steps": [{"color": "green", "value": None}, *limit]},
            },
            "overrides": [],
        },
        "targets": [
            {"refId": chr(ord("A") + index), "datasource": source, "expr": query, "legendFormat": legend}
            for index, (legend, query) in enumerate(panel.queries.items())
        ],
    }
