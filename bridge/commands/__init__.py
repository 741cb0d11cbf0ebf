"""Slash commands that Claude Code answers for a terminal, and that are answered for an editor here."""
