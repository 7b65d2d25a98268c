"""How long recent answers took, and how many writes were answered in a second."""

from evenkeel.decisions.drain.agenda import Usual
from evenkeel.flows.drain.dispatch.forced_evictions import Answers
from tests.kit.builders import NOW, seconds


def test_without_an_answer_none_took_any_time() -> None:
    assert Answers().usual(NOW) == Usual(seconds(0), seconds(0), 0.0)


def test_half_of_the_answers_took_so_long_at_most_and_nearly_all() -> None:
    answers = Answers()
    for number in range(1, 22):
        answers.saw(seconds(number), NOW, is_write=False)
    assert answers.usual(NOW) == Usual(seconds(11), seconds(20), 0.0)


def test_only_those_of_the_last_half_minute_count() -> None:
    answers = Answers()
    answers.saw(seconds(9), NOW, is_write=True)
    answers.saw(seconds(1), NOW + seconds(10), is_write=False)
    assert answers.usual(NOW + seconds(30)).most == seconds(1)
    assert answers.usual(NOW + seconds(30)).per_second == 0.5
    assert answers.usual(NOW + seconds(31)) == Usual(seconds(1), seconds(1), 0.0)


def test_the_fastest_two_seconds_tell_how_many_writes_are_taken() -> None:
    answers = Answers()
    for at in (0, 5, 5.5, 6, 7, 7.1, 20):
        answers.saw(seconds(0.1), NOW + seconds(at), is_write=True)
    assert answers.fastest == 2.0
    assert answers.usual(NOW + seconds(20)).per_second == 2.0
