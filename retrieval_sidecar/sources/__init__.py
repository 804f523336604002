"""What operators add: knowledge bases, and the sources in them. Working on a source is `retrieval_sidecar.jobs`."""
