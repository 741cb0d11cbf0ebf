"""The models that a session offers: the list, the matching of names, the labels."""
