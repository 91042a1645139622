"""Facts of a result: sentences that the program words from exact figures, with the cells they rest on."""

from app.modules.analysis.facts.fact import Fact, FactKind, FactSheet

__all__ = ["Fact", "FactKind", "FactSheet"]
