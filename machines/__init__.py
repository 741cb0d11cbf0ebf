"""The lifecycles of the agent: synchronous statecharts that decide and never act."""
