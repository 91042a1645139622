"""Rules for the model: Markdown with front matter, from files and by route."""
