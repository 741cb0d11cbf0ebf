"""Live: every tool once, as each kind of client sees it."""
