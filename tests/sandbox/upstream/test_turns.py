"""Whose turn is next, and when an upstream that does not answer is tried again."""

from collections import Counter, deque

import pytest

from batchui.sandbox.upstream.outcomes import Answered, Away, Faulty, Refusing, Unaskable
from batchui.sandbox.upstream.pauses import Patience, Weather
from batchui.sandbox.upstream.turns import Turn, Turns, Work

ANSWERED = Answered(b"{}", 1, 1)


def work(name: str, count: int) -> Work:
    return Work(id=name, model="m", since=0, fresh=deque(range(count)))


def turns_of(*works: Work) -> Turns:
    turns = Turns()
    for one in works:
        turns.add(one)
    return turns


def taken(turns: Turns, count: int) -> list[str]:
    found = [turns.take(0) for _ in range(count)]
    return [turn.work.id for turn in found if turn]


def test_every_other_turn_is_the_oldest_ones() -> None:
    turns = turns_of(*(work(name, 100) for name in "abcd"))
    assert Counter(taken(turns, 60)) == {"a": 30, "b": 10, "c": 10, "d": 10}


def test_one_that_comes_later_catches_up() -> None:
    old, new = work("old", 100), work("new", 5)
    turns = turns_of(old)
    taken(turns, 20)
    turns.add(new)
    assert taken(turns, 10).count("new") == 5


def test_each_item_has_one_turn_in_the_order_sent() -> None:
    turns = turns_of(work("a", 3))
    positions = [turn.position for _ in range(3) if (turn := turns.take(0))]
    assert positions == [0, 1, 2]
    assert turns.take(0) is None


def test_one_to_ask_again_comes_after_the_others_and_not_before_its_time() -> None:
    turns = turns_of(work("a", 2))
    first = turns.take(0)
    assert first
    turns.back(first, at=5)
    assert turns.soonest() == 5
    assert turns.count() == 2
    second = turns.take(9)
    assert second
    assert second.position == 1
    assert turns.take(4) is None
    again = turns.take(5)
    assert again
    assert again.position == 0


def test_a_request_ends_when_nothing_is_left_or_under_way() -> None:
    one = work("a", 2)
    turns = turns_of(one)
    first, second = turns.take(0), turns.take(0)
    assert first
    assert second
    turns.settle(first)
    assert not turns.remove_if_done(one)
    turns.settle(second)
    assert turns.remove_if_done(one)
    assert not turns.remove_if_done(one)


def test_a_request_that_is_given_up_does_not_end_before_that_is_stored() -> None:
    one = work("a", 3)
    turns = turns_of(one)
    first = turns.take(0)
    assert first
    turns.back(first, at=9)
    assert turns.give_up(one) == [1, 2, 0]
    assert turns.take(10) is None
    assert not turns.remove_if_done(one)
    turns.given_up(one)
    assert turns.remove_if_done(one)


# -- pauses ---------------------------------------------------------------------------------------


def turn(tries: int = 0, seen: int = -1) -> Turn:
    return Turn(work("a", 1), 0, tries, seen)


def test_the_usual_pauses_are_from_one_second_to_thirty() -> None:
    weather, now, waits = Weather(Patience()), 100.0, []
    for _ in range(8):
        weather.note(Away("gone"), began_in=weather.pause, now=now)
        assert weather.pause
        waits.append(weather.pause.until - now)
        now = weather.pause.until
    assert waits == [1, 2, 4, 8, 16, 30, 30, 30]
    assert weather.pause
    assert weather.pause.since == 100


def test_several_that_fail_at_once_are_one_failure() -> None:
    weather = Weather(Patience())
    for _ in range(4):
        weather.note(Away("gone"), began_in=None, now=0)
    assert weather.pause
    assert weather.pause.until == 1


def test_a_wait_that_was_asked_for_is_kept_whoever_hears_of_it() -> None:
    weather = Weather(Patience())
    weather.note(Away("slow down"), began_in=None, now=0)
    weather.note(Away("slow down", wait=20), began_in=None, now=0)
    assert weather.pause
    assert weather.pause.until == 20


def test_an_answer_to_what_was_asked_before_does_not_end_a_pause() -> None:
    weather = Weather(Patience())
    weather.note(Away("slow down", wait=20), began_in=None, now=0)
    weather.note(ANSWERED, began_in=None, now=1)
    assert weather.pause
    weather.note(ANSWERED, began_in=weather.pause, now=20)
    assert weather.pause is None


def test_an_item_that_nobody_was_asked_neither_begins_nor_ends_a_pause() -> None:
    weather = Weather(Patience())
    weather.note(Unaskable("what?"), began_in=None, now=0)
    assert weather.pause is None
    weather.note(Away("gone"), began_in=None, now=0)
    pause = weather.pause
    assert pause
    pause.being_tried = True
    weather.note(Unaskable("what?"), began_in=pause, now=1)
    assert weather.pause is pause
    assert not pause.being_tried


def test_one_that_refuses_is_tried_each_minute_and_needs_a_person() -> None:
    weather = Weather(Patience())
    weather.note(Refusing("no"), began_in=None, now=0)
    assert weather.pause
    assert weather.pause.until == 60
    assert weather.pause.needs_person
    weather.note(Away("gone"), began_in=weather.pause, now=60)
    assert not weather.pause.needs_person


def test_an_item_is_asked_three_times_with_growing_pauses() -> None:
    weather = Weather(Patience())
    first = weather.again(turn(), Faulty("odd"))
    assert first
    assert (first[0].tries, first[1]) == (1, 1)
    second = weather.again(first[0], Faulty("odd"))
    assert second
    assert (second[0].tries, second[1]) == (2, 2)
    assert weather.again(second[0], Faulty("odd")) is None
    assert weather.again(turn(), ANSWERED) is None


def test_an_item_is_to_blame_only_if_others_were_answered_meanwhile() -> None:
    weather = Weather(Patience())
    one = turn()
    for _ in range(9):
        found = weather.again(one, Away("503", asked=True))
        assert found
        one = found[0]
    assert one.tries == 0
    weather.note(ANSWERED, began_in=None, now=0)
    found = weather.again(one, Away("503", asked=True))
    assert found
    assert found[0].tries == 1
    # Where no connection was made, nobody had the item.
    assert weather.again(one, Away("refused")) == (one, 0)


@pytest.mark.parametrize(
    ("since", "now", "over"), [(0, 100, True), (0, 99, False), (50, 149, False), (50, 150, True)]
)
def test_a_request_is_given_up_after_its_own_time(since: float, now: float, over: bool) -> None:
    weather = Weather(Patience(give_up=100))
    assert weather.hopeless(0, now=1e9) == ""
    weather.note(Away("gone"), began_in=None, now=0)
    assert bool(weather.hopeless(since, now=now)) == over


def test_the_usual_time_is_six_hours() -> None:
    weather = Weather(Patience())
    weather.note(Away("gone"), began_in=None, now=0)
    assert weather.hopeless(0, now=21_599) == ""
    assert weather.hopeless(0, now=21_600) == "gone. It was tried for 6 hours"
