"""A stored conversation as the neutral items that a replay renders."""
