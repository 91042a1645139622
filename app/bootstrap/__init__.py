"""The composition root: from settings to opened services. It alone names every concrete class."""

from app.bootstrap.api import Services, open_services, open_services_for_once
from app.bootstrap.common import CommonServices, OpenedDatabases, OpenedFacts, open_databases, open_facts
from app.bootstrap.store import open_store
from app.bootstrap.worker import open_worker

__all__ = [
    "CommonServices",
    "OpenedDatabases",
    "OpenedFacts",
    "Services",
    "open_databases",
    "open_facts",
    "open_services",
    "open_services_for_once",
    "open_store",
    "open_worker",
]
