"""Alert rules and dashboards ask for what the code measures, and for all of it."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import REGISTRY, Counter, Gauge, Histogram

from contracts import pins
from retrieval_sidecar import metrics as sidecar
from retrieval_sidecar.settings import Settings
from tests.support.promql import Selector, parse
from worker import metrics as worker

ROOT = Path(__file__).parents[3]
WATCH = ROOT / "deploy" / "watch"
RULES = yaml.safe_load((WATCH / "rules.yaml").read_text("utf-8"))["groups"]
DASHBOARDS = {path.stem: json.loads(path.read_text("utf-8")) for path in (WATCH / "dashboards").glob("*.json")}
FROM_PROMETHEUS = {"job", "instance"}
DURATION = re.compile(r"\d+[smh]")

Metric = Counter | Gauge | Histogram
MEASURED: dict[str, Metric] = {
    each._name: each for part in (sidecar, worker) for each in vars(part).values() if isinstance(each, Metric)
}
OTHERS = {sample.name for family in REGISTRY.collect() for sample in family.samples} | {
    "process_resident_memory_bytes",
}
ENDINGS: dict[str, type[object]] = {
    "_bucket": Histogram,
    "_sum": Histogram,
    "_count": Histogram,
    "_total": Counter,
    "": Gauge,
}
RECORDED = {rule["record"]: rule for group in RULES for rule in group["rules"] if "record" in rule}
ALERTS = {rule["alert"]: rule for group in RULES for rule in group["rules"] if "alert" in rule}


def expressions() -> Iterator[tuple[str, str]]:
    """All that is asked of Prometheus, and where."""
    yield from ((name, rule["expr"]) for name, rule in (RECORDED | ALERTS).items())
    for name, dashboard in DASHBOARDS.items():
        for panel in dashboard["panels"]:
            yield from ((f"{name}: {panel['title']}", target["expr"]) for target in panel["targets"])


def metric_of(selector: Selector) -> Metric | None:
    """The metric whose series these are; None of a recorded rule's, and of one that a library measures."""
    if selector.name in RECORDED:
        return None
    for ending, kind in ENDINGS.items():
        metric = MEASURED.get(selector.name.removesuffix(ending))
        if selector.name.endswith(ending) and type(metric) is kind:
            return metric
    assert selector.name in OTHERS, f"{selector.name} is measured nowhere"
    return None


def check(text: str) -> set[str]:
    """Hold an expression against the code; the metrics that it asks for."""
    expression, asked, labels = parse(text), set(), set(FROM_PROMETHEUS)
    for selector in expression.selectors:
        metric = metric_of(selector)
        if metric is None:
            labels |= parse(RECORDED[selector.name]["expr"]).grouped if selector.name in RECORDED else set()
            continue
        asked.add(metric._name)
        own = set(metric._labelnames) | FROM_PROMETHEUS | ({"le"} if selector.name.endswith("_bucket") else set())
        labels |= own
        for label, how, value in selector.matchers:
            assert label in own, f"{selector.name} has no label {label}"
            if label == "le":
                assert isinstance(metric, Histogram)
                assert value in {str(bound) for bound in metric._upper_bounds}, f"{selector.name} ends at no {value}"
            elif label == "http_route":
                assert any(re.fullmatch(value, path) for path in _paths()), f"{value} is no path"
            elif label in worker._LABELS and metric in vars(worker).values():
                known = worker._LABELS[label]
                assert all(any(re.fullmatch(one, each) for each in known) for one in value.split("|")), value
            assert how in {"=", "=~"}
    assert expression.grouped <= labels, f"grouped by what is no label: {expression.grouped - labels}"
    return asked


def _paths() -> set[str]:
    document: dict[str, Any] = yaml.safe_load(pins.document("voice"))
    return set(document["paths"])


@pytest.mark.parametrize(("where", "expression"), list(expressions()), ids=lambda each: str(each)[:40])
def test_what_is_asked_for_is_measured(where: str, expression: str) -> None:
    assert check(expression) is not None, where


@pytest.mark.parametrize(
    "wrong",
    [
        "sum(rate(answerline_turns[5m]))",
        "sum(rate(answerline_turn_total[5m]))",
        'rate(answerline_turns_total{status="answered"}[5m])',
        'rate(answerline_turns_total{outcome="replied"}[5m])',
        'rate(answerline_turn_answer_seconds_bucket{le="4"}[5m])',
        "sum by (status) (rate(answerline_turns_total[5m]))",
        "max(answerline_ingest_lag_seconds_total)",
        'rate(http_server_request_duration_seconds_count{http_route=~".+/search"}[5m])',
        "answerline:nothing:ratio > 1",
        "sum(rate(answerline_turns_total[5m])",
        "1 + 1",
    ],
)
def test_what_is_not_measured_is_found_out(wrong: str) -> None:
    with pytest.raises((AssertionError, ValueError)):
        check(wrong)


def test_what_is_measured_is_shown_or_watched() -> None:
    asked = {name for _, expression in expressions() for name in check(expression)}
    assert MEASURED.keys() - asked == set(), "measured for nobody"


def test_what_is_measured_is_explained() -> None:
    text = (ROOT / "docs" / "watch.md").read_text("utf-8")
    assert not [name for name in MEASURED if f"`{name}" not in text]
    assert not [name for name in ALERTS if name not in text]


@pytest.mark.parametrize("name", ALERTS)
def test_an_alert_says_whom_it_wakes_what_is_wrong_and_where_to_look(name: str) -> None:
    alert = ALERTS[name]
    assert alert["labels"]["severity"] in {"page", "ticket"}
    assert DURATION.fullmatch(alert.get("for", "1m"))
    annotations = alert["annotations"]
    assert annotations.keys() == {"summary", "look"}
    named = set(re.findall(r"\$labels\.(\w+)", annotations["summary"]))
    expression = parse(alert["expr"])
    given = set(expression.grouped).union(
        *(parse(RECORDED[each.name]["expr"]).grouped for each in expression.selectors if each.name in RECORDED)
    )
    assert named <= given


def test_each_number_is_within_the_measure_of_its_histogram() -> None:
    for name in ("answerline_turn_answer_seconds", "answerline_queue_wait_seconds"):
        metric = MEASURED[name]
        assert isinstance(metric, Histogram)
        assert len(metric._upper_bounds) <= 14, "each bucket is a series for each label"


def test_dashboards_are_what_their_source_says() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "deploy.watch", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert len(DASHBOARDS) == 2
    for dashboard in DASHBOARDS.values():
        places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in dashboard["panels"]]
        assert len(set(places)) == len(places)
        assert len({panel["id"] for panel in dashboard["panels"]}) == len(places)


def test_prometheus_asks_at_the_port_that_the_documents_name() -> None:
    asked = yaml.safe_load((WATCH / "prometheus.example.yaml").read_text("utf-8"))
    (job,) = asked["scrape_configs"]
    assert asked["rule_files"] == ["rules.yaml"]
    (static,) = job["static_configs"]
    assert {target.partition(":")[0] for target in static["targets"]} == {"voice", "manage", "work", "worker"}
    assert all(target.endswith(":9464") for target in static["targets"])
    assert "ANSWERLINE_METRICS_PORT=9464" in (ROOT / "docs" / "watch.md").read_text("utf-8")
    assert Settings.model_fields["metrics_host"].default == "127.0.0.1"
