"""Messages of Claude Code and of the client, each turned into the other's form."""
