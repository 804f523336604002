# The sidecar: voice API (serve), management API (manage), ingest jobs (work) and migrations (migrate). No LiveKit.
# Built from the repository's root:  docker build --file deploy/images/sidecar.Dockerfile --tag answerline-sidecar .
# The tag is exact. Whoever can see the registry adds the digest (python:...@sha256:...), in both lines that begin with FROM.
# It holds pandoc, which is under the GPL (docs/dependencies.md): whoever passes this image on offers pandoc's source too.
FROM python:3.11.14-slim-bookworm AS build
WORKDIR /build
COPY deploy/images/build.txt deploy/images/sidecar.txt pyproject.toml README.md LICENSE ./
RUN python3 -m venv tools \
    && tools/bin/pip install --no-cache-dir --no-compile --require-hashes --requirement build.txt
RUN python3 -m venv --without-pip /opt/answerline \
    && tools/bin/uv pip install --python /opt/answerline/bin/python --require-hashes --requirement sidecar.txt
# What is not copied is not installed: of the package there is the sidecar alone.
COPY contracts contracts
COPY retrieval_sidecar retrieval_sidecar
RUN tools/bin/hatchling build --target wheel --directory dist \
    && tools/bin/uv pip install --python /opt/answerline/bin/python --no-deps dist/*.whl
RUN /opt/answerline/bin/python -m compileall -q /opt/answerline/lib \
    && tools/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible \
        --output-file /opt/answerline/sbom.json /opt/answerline/bin/python

FROM python:3.11.14-slim-bookworm
COPY --from=build /opt/answerline /opt/answerline
ENV PATH=/opt/answerline/bin:/usr/local/bin:/usr/bin:/bin \
    HOME=/tmp \
    PYTHONUNBUFFERED=1 \
    ANSWERLINE_VOICE_HOST=0.0.0.0 \
    ANSWERLINE_MANAGEMENT_HOST=0.0.0.0
# By number: Kubernetes can hold it against runAsNonRoot. Nothing is written but to /tmp, uploads and their reading included.
USER 10001:10001
WORKDIR /opt/answerline
EXPOSE 8090 8080
STOPSIGNAL SIGTERM
# That of `serve`; who runs another command names another.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8090/readyz', timeout=3)"]
ENTRYPOINT ["python", "-m", "retrieval_sidecar"]
CMD ["serve"]
