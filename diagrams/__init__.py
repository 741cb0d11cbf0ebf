"""Draws the machines: a Mermaid chart and a transition table a lifecycle."""
