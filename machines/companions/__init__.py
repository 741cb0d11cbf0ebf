"""What goes along with the turns of a session (M11, M12, M13, M14)."""
