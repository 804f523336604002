# The voice worker: its packages and its code. No database driver, nothing of the sidecar.
# Built from the repository's root:  docker build --file deploy/images/worker.Dockerfile --tag answerline-worker .
# The tag is exact. Whoever can see the registry adds the digest (python:...@sha256:...), in both lines that begin with FROM.
FROM python:3.11.14-slim-bookworm AS build
WORKDIR /build
COPY deploy/images/build.txt deploy/images/worker.txt pyproject.toml README.md LICENSE ./
RUN python3 -m venv tools \
    && tools/bin/pip install --no-cache-dir --no-compile --require-hashes --requirement build.txt
RUN python3 -m venv --without-pip /opt/answerline \
    && tools/bin/uv pip install --python /opt/answerline/bin/python --require-hashes --requirement worker.txt
# What is not copied is not installed: of the package there is the worker alone.
COPY contracts contracts
COPY worker worker
RUN tools/bin/hatchling build --target wheel --directory dist \
    && tools/bin/uv pip install --python /opt/answerline/bin/python --no-deps dist/*.whl \
    && rm /opt/answerline/bin/retrieval-sidecar
RUN /opt/answerline/bin/python -m compileall -q /opt/answerline/lib \
    && tools/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible \
        --output-file /opt/answerline/sbom.json /opt/answerline/bin/python

FROM python:3.11.14-slim-bookworm
COPY --from=build /opt/answerline /opt/answerline
ENV PATH=/opt/answerline/bin:/usr/local/bin:/usr/bin:/bin \
    HOME=/tmp \
    PYTHONUNBUFFERED=1 \
    ANSWERLINE_WORKER_HOST=0.0.0.0
# By number: Kubernetes can hold it against runAsNonRoot. Nothing is written but to /tmp.
USER 10001:10001
WORKDIR /opt/answerline
EXPOSE 8081
STOPSIGNAL SIGTERM
# Ready when LiveKit knows it.
HEALTHCHECK --interval=10s --timeout=5s --start-period=90s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8081/', timeout=3)"]
ENTRYPOINT ["python", "-m", "worker"]
CMD ["start"]
