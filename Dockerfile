# The command in an image, for clusters that run it: manifests/serve, or evenkeel poll.
FROM python:3.13-slim
WORKDIR /evenkeel
COPY requirements/command.txt requirements/
RUN pip install --no-cache-dir --require-hashes -r requirements/command.txt
COPY . .
RUN pip install --no-cache-dir --no-build-isolation --no-deps --editable . && python -m compileall -q .
USER 65532
ENTRYPOINT ["evenkeel"]
