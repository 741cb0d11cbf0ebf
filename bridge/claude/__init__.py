"""Claude Code as a process: the only code that imports the SDK."""
