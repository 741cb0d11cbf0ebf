"""Prompts until their answers, and the work that the user waits for (M4, M5)."""
