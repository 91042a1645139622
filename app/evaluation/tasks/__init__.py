"""Tasks that one statement cannot answer, on databases with a planted truth, and their scores."""
