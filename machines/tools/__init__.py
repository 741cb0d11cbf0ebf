"""The tool calls of a conversation (M8)."""
