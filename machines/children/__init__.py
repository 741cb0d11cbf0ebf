"""Subagents with a session of their own (M20, M21)."""
