"""Databases that are generated from a seed, with a planted truth, and the tasks about them."""
