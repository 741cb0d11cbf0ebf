"""Requests of ACP v2 where they differ from v1; everything that is sent is checked by the tests' oracle."""
