"""The chat page's built files, and how they are served."""
