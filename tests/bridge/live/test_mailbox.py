"""The mailbox: one item after the other, others get a turn, and nothing comes after the end."""

from collections.abc import Callable

import anyio
import pytest

from bridge.live.mailbox import BURST, Mailbox

pytestmark = pytest.mark.anyio


async def consume(mailbox: Mailbox[int], *items: int, then: Callable[[], None]) -> None:
    for item in items:
        mailbox.post(item)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(mailbox.run)
        await anyio.wait_all_tasks_blocked()
        then()


async def test_items_come_in_their_order_also_those_posted_meanwhile() -> None:
    seen: list[int] = []

    def take(item: int) -> None:
        seen.append(item)
        if item < 10:
            mailbox.post(item + 10)

    mailbox = Mailbox(take, lambda: 0)
    await consume(mailbox, 1, 2, 3, then=mailbox.close)
    assert seen == [1, 2, 3, 11, 12, 13]


async def test_nothing_comes_after_the_end() -> None:
    seen: list[int] = []

    def take(item: int) -> None:
        seen.append(item)
        if item == 2:
            mailbox.close()

    mailbox = Mailbox(take, lambda: 0)
    await consume(mailbox, 1, 2, 3, then=lambda: mailbox.post(4))
    assert seen == [1, 2]


async def test_what_does_not_count_any_more_is_taken_out() -> None:
    seen: list[int] = []

    def take(item: int) -> None:
        seen.append(item)
        if item == 1:
            mailbox.drop(lambda each: each % 2 == 0)

    mailbox = Mailbox(take, lambda: 0)
    await consume(mailbox, 1, 2, 3, 4, then=mailbox.close)
    assert seen == [1, 3]


async def test_a_busy_mailbox_lets_others_run() -> None:
    clock = iter(range(10**6))
    seen: list[object] = []
    mailbox: Mailbox[int] = Mailbox(seen.append, lambda: next(clock) * BURST)

    async def other() -> None:
        seen.append("other")
        mailbox.close()

    for item in range(1000):
        mailbox.post(item)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(mailbox.run)
        tasks.start_soon(other)
    assert "other" in seen
    assert len(seen) < 100
