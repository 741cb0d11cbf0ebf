"""What a result of Claude Code says, and whose it is (M4.2, M4.4)."""
