"""The whole session under arbitrary orders."""

from hypothesis import HealthCheck, settings

from tests.fuzz.session import Session

EXAMPLES = {"ci": 2_000, "nightly": 200_000}

TestSession = Session.TestCase
TestSession.settings = settings(
    max_examples=EXAMPLES.get(settings.get_current_profile_name(), 2_000),
    stateful_step_count=20,
    suppress_health_check=[*HealthCheck],
)
