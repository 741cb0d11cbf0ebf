"""Async tasks: what of them is read from results, and the updates that tell them."""
