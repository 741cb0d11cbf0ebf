"""Who pays, and where requests go: sign-in, providers and the status that clients are told (C§8 … C§12)."""
