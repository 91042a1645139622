"""The built files of the chat page and the API docs, and their routes."""
