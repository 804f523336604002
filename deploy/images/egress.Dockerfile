# The way out for the worker: a proxy that connects to the hosts of deploy/compose/egress/allowed-hosts.txt and no other.
FROM debian:12.11-slim
# Debian replaces a version by its security update, so that a pinned one could not be installed any more.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends squid \
    && rm -rf /var/lib/apt/lists/*
USER 10001:10001
WORKDIR /tmp
EXPOSE 3128
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --retries=3 \
    CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/3128"]
ENTRYPOINT ["squid", "-N", "-f", "/etc/egress/squid.conf"]
