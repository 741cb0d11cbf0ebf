"""The whole session under arbitrary orders of what client, Claude Code and time do."""
