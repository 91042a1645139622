"""Measuring the answers: question sets with known statements, scored by the rows that come back."""
