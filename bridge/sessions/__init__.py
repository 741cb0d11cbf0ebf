"""Stored sessions: Claude Code's transcripts, found, listed, read and deleted.

Everything here is synchronous and meant for a worker thread. The files are Claude Code's: it may
append to them at any time, and whatever they hold is taken as it comes.
"""
