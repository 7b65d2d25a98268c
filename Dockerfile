# The command in an image, for clusters that run it: manifests/serve, or evenkeel poll. `make dist`
# makes the wheel that goes into it. It has what poll and serve need, and reads no kubeconfig.
# The base is a tag here: docs/releases.md says who builds from its digest, and who moves it on.
ARG BASE=python:3.13.9-slim-trixie
FROM ${BASE} AS build
COPY requirements/image.txt dist/*.whl /tmp/
RUN python -m venv /evenkeel \
 && /evenkeel/bin/pip install --no-cache-dir --require-hashes -r /tmp/image.txt \
 && /evenkeel/bin/pip install --no-cache-dir --no-deps /tmp/*.whl

FROM ${BASE}
COPY --from=build /evenkeel /evenkeel
USER 65532
ENTRYPOINT ["/evenkeel/bin/evenkeel"]
