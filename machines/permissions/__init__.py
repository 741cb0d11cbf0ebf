"""What Claude Code asks of the user (M9, M10)."""
