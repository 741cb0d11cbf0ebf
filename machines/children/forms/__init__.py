"""The forms in which clients are shown subagents (M20, M21)."""
