"""How work is stopped, and what is left of it afterwards (M6, M7)."""
