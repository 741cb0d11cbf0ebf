"""How a tool call is shown: one reporter a tool, one renderer, one field tracker."""
