"""Watching an installation: alert rules, dashboards, what Prometheus asks. docs/watch.md says how to use them."""
