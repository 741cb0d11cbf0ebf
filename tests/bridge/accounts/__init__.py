"""Who pays: what is known of it, and what is asked for."""
