"""Deterministic simulation of the run engine: virtual time, seeded faults, and invariants at rest."""
