"""How fast and how large the installed agent is, alone or beside another one: `python -m tests.bench`."""
