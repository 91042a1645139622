"""Secrets in texts: found by shape, name and place, and taken out."""
