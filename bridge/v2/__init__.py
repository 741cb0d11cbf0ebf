"""ACP v2 as a thin surface over an agent that thinks in terms of v1 (`acp-wire` §8.2).

Nothing in here is imported before a client asks for that version.
"""
