# The command in an image, for clusters that run it: manifests/serve, or evenkeel poll. `make dist`
# makes the wheel that goes into it.
FROM python:3.13.9-slim-trixie AS build
COPY requirements/command.txt dist/*.whl /tmp/
RUN python -m venv /evenkeel \
 && /evenkeel/bin/pip install --no-cache-dir --require-hashes -r /tmp/command.txt \
 && /evenkeel/bin/pip install --no-cache-dir --no-deps /tmp/*.whl

FROM python:3.13.9-slim-trixie
COPY --from=build /evenkeel /evenkeel
USER 65532
ENTRYPOINT ["/evenkeel/bin/evenkeel"]
