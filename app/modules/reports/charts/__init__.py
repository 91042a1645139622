"""Charts of reports: made of specifications, rows and choices as the page makes them, and drawn elsewhere."""
