"""What goes over the wire: JSON-RPC lines and the Agent Client Protocol as models."""
