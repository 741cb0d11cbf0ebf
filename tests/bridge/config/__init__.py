"""Tests of the configuration of sessions, as tables of values."""
