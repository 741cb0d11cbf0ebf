"""Settings, models, options, accounts and providers: what a session runs with, as values."""
