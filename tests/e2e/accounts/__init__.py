"""Live: who pays, and where requests go."""
