"""The HTTP applications: the API, its description without services, and the health of a worker."""

from app.bootstrap.application import create_app, create_health_app, describe_api

__all__ = ["create_app", "create_health_app", "describe_api"]
