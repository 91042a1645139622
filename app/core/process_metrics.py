"""The registry of a process, with what the process itself uses: processor, memory, files, collections."""

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector


def process_metrics() -> CollectorRegistry:
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    GCCollector(registry=registry)
    return registry
