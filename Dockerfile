# Builds with `docker build -t kai .`, and with the drivers of warehouses with
# `docker build -t kai:all --target all .`; runs as an unprivileged user and keeps everything in /data.
FROM python:3.13-slim AS build
WORKDIR /build
COPY requirements requirements
RUN python -m venv /opt/kai \
    && /opt/kai/bin/pip install --no-cache-dir --require-hashes -r requirements/runtime.txt
# Node builds the page, and stays behind.
RUN python -m venv /opt/node \
    && /opt/node/bin/pip install --no-cache-dir --require-hashes -r requirements/node.txt
COPY pyproject.toml README.md LICENSE ./
COPY ui ui
COPY app app
COPY graph graph
COPY migrations migrations
COPY typesense_checkpoint typesense_checkpoint
RUN PATH=/opt/node/bin:$PATH /opt/kai/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM build AS build-all
RUN /opt/kai/bin/pip install --no-cache-dir --no-deps --require-hashes -r requirements/warehouses.txt

FROM python:3.13-slim AS base
RUN useradd --system --uid 10001 --home-dir /data kai && install -d -o kai -g kai -m 700 /data
USER kai
VOLUME /data
EXPOSE 8000
# Inside the container every address is foreign, so there is a login: `kai keys create` makes the first key.
ENV PATH=/opt/kai/bin:$PATH KAI_DATA_DIR=/data KAI_HOST=0.0.0.0 PYTHONUNBUFFERED=1
HEALTHCHECK --start-period=15s CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/readyz', timeout=2)"]
STOPSIGNAL SIGTERM
CMD ["kai", "serve"]

FROM base AS all
COPY --from=build-all /opt/kai /opt/kai

FROM base
COPY --from=build /opt/kai /opt/kai
