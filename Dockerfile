FROM python:3.13-slim

# Hugging Face runs a Docker Space as user 1000.
RUN useradd --create-home --uid 1000 arena \
    && install --directory --owner=arena --group=arena /data

# What llama.cpp, which serves GGUF files, needs of the system.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends libgomp1 libstdc++6 \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /app

# What the arena needs comes first: this layer is built anew only when the lock changes.
COPY requirements.lock ./
RUN pip install --no-cache-dir --require-hashes --requirement requirements.lock

COPY . .
RUN pip install --no-cache-dir --no-deps --no-build-isolation --editable .

USER arena
ENV ARENA_DATA_DIR=/data \
    GRADIO_ANALYTICS_ENABLED=False \
    PYTHONUNBUFFERED=1
VOLUME /data
EXPOSE 7860

HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "from urllib.request import ProxyHandler, build_opener; build_opener(ProxyHandler({})).open('http://127.0.0.1:7860/healthz', timeout=4)"]

CMD ["python", "app.py", "--host", "0.0.0.0"]
