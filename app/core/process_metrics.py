"""Metrics registry of the process, with its use of processor, memory, files and garbage collections."""

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector


def process_metrics() -> CollectorRegistry:
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    GCCollector(registry=registry)
    return registry
