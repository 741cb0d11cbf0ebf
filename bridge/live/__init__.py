"""A live session: one mailbox, one consumer, and what it does with its frames and outputs."""
