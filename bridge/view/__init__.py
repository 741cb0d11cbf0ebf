"""What the client sees of a session."""
