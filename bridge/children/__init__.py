"""Subagents in sessions of their own: which session each update goes to, and how they are told."""
