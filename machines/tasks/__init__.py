"""What runs beside the conversation (A1, B1)."""
