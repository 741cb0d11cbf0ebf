"""The whole session under arbitrary orders: 2,000 of them, 200,000 with the profile `nightly`."""

import pytest
from hypothesis import HealthCheck, settings

from tests.fuzz.session import Session

EXAMPLES = {"nightly": 200_000}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.contract("CY-008", "CY-019", "CY-021", "TC-215", "PM-003", "PM-107", "PM-110"),
]

TestSession = Session.TestCase
TestSession.settings = settings(
    max_examples=EXAMPLES.get(settings.get_current_profile_name(), 2_000),
    stateful_step_count=20,
    print_blob=True,
    suppress_health_check=[*HealthCheck],
)
