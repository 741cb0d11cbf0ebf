"""The Claude Code process of a session, and the session across all of them (M2, M3)."""
