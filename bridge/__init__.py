"""The agent around the machines: stdio, sessions, Claude Code, rendering and effects."""
