"""Fixtures of the tests of subagents in sessions of their own."""

from tests.e2e.permissions.kinds import agent_of as agent_of
from tests.e2e.permissions.kinds import chat_as as chat_as
