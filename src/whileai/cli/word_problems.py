"""Arithmetic word problems from a seed: a question, and a worked answer that ends in ``#### <number>``."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable, Sequence

NAMES = ("Amara", "Bela", "Chidi", "Dilnoza", "Emil", "Farah", "Goran", "Hana", "Ines", "Jonas", "Keiko", "Luca")
OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.floordiv,
}


class Draw:
    """Numbers and words, from the one method of `random.Random` whose stream no version of Python changes."""

    def __init__(self, seed: str) -> None:
        self._next = random.Random(seed).random  # noqa: S311 - makes examples, guards nothing

    def whole(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return low + int(self._next() * (high - low + 1))

    def pick(self, items: Sequence[str]) -> str:
        """One of the items."""
        return items[int(self._next() * len(items))]

    def chance(self) -> float:
        """A number in [0, 1)."""
        return self._next()


class Working:
    """The lines of a worked answer."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.last = 0

    def step(self, text: str, a: int, sign: str, b: int) -> int:
        """Add one line, ``{}`` in `text` being the calculation, and give its value."""
        self.last = OPERATIONS[sign](a, b)
        self.lines.append(text.format(f"{a} {sign} {b} = <<{a}{sign}{b}={self.last}>>{self.last}"))
        return self.last


Problem = tuple[str, Working]


def bakery(draw: Draw) -> Problem:
    """Trays of buns, some of them sold."""
    name, trays, buns = draw.pick(NAMES), draw.whole(3, 12), draw.whole(6, 24)
    sold = draw.whole(2, trays * buns - 1)
    work = Working()
    baked = work.step("The trays hold {} buns.", trays, "*", buns)
    work.step("After the sale {} buns are left.", baked, "-", sold)
    return f"{name} bakes {trays} trays of {buns} buns and sells {sold} of them. How many buns are left?", work


def savings(draw: Draw) -> Problem:
    """Money put aside weekly towards something."""
    name, weekly, weeks, extra = draw.pick(NAMES), draw.whole(4, 30), draw.whole(3, 15), draw.whole(5, 60)
    thing = draw.pick(("a bicycle", "a guitar", "a tent", "a camera"))
    work = Working()
    saved = work.step("The weekly savings come to {} dollars.", weekly, "*", weeks)
    work.step("With the gift that makes {} dollars.", saved, "+", extra)
    text = f"{name} saves {weekly} dollars a week for {thing}. After {weeks} weeks an aunt adds {extra} dollars. "
    return f"{text}How many dollars are there now?", work


def bus(draw: Draw) -> Problem:
    """People who get on and off."""
    start, off, on = draw.whole(20, 60), draw.whole(3, 18), draw.whole(2, 25)
    stop = draw.pick(("the harbour", "the museum", "the market", "the hospital"))
    work = Working()
    left = work.step("After people get off, {} remain.", start, "-", off)
    work.step("Then {} are on the bus.", left, "+", on)
    text = f"A bus carries {start} people. At {stop} {off} get off and {on} get on. "
    return f"{text}How many people are on the bus then?", work


def orchard(draw: Draw) -> Problem:
    """Fruit shared into crates."""
    name, crates, each, spoiled = draw.pick(NAMES), draw.whole(3, 14), draw.whole(8, 30), draw.whole(2, 20)
    fruit = draw.pick(("apples", "pears", "plums", "quinces"))
    work = Working()
    good = work.step("The crates take {} pieces.", crates, "*", each)
    work.step("With the spoiled ones {} were picked.", good, "+", spoiled)
    text = f"{name} throws away {spoiled} spoiled {fruit} and packs the rest into {crates} crates of {each}. "
    return f"{text}How many {fruit} were picked?", work


def reading(draw: Draw) -> Problem:
    """Days to finish a book."""
    name, pace, days, done = draw.pick(NAMES), draw.whole(8, 40), draw.whole(3, 12), draw.whole(10, 90)
    pages = pace * days + done
    work = Working()
    rest = work.step("There are {} pages to go.", pages, "-", done)
    work.step("At that pace it takes {} days.", rest, "/", pace)
    text = f"{name} has read {done} of the {pages} pages of a book and reads {pace} pages a day from now on. "
    return f"{text}How many more days does it take to finish?", work


def tiles(draw: Draw) -> Problem:
    """The area of a floor without a corner."""
    long, wide = draw.whole(7, 20), draw.whole(5, 12)
    cut = draw.whole(2, 4)
    room = draw.pick(("hall", "kitchen", "workshop", "library"))
    work = Working()
    floor = work.step("The whole floor is {} square metres.", long, "*", wide)
    corner = work.step("The corner takes {} square metres.", cut, "*", cut)
    work.step("That leaves {} square metres.", floor, "-", corner)
    text = f"The floor of a {room} is {long} metres long and {wide} metres wide. "
    return f"{text}A corner of {cut} by {cut} metres stays bare. How many square metres are tiled?", work


def concert(draw: Draw) -> Problem:
    """Tickets at two prices."""
    full, half = draw.whole(4, 20) * 2, draw.whole(10, 80)
    adults = draw.whole(12, 90)
    work = Working()
    paid = work.step("The adults pay {} dollars.", adults, "*", full)
    price = work.step("A child's ticket is {} dollars.", full, "/", 2)
    children = work.step("The children pay {} dollars.", half, "*", price)
    work.step("Together that is {} dollars.", paid, "+", children)
    text = f"A ticket to the concert costs {full} dollars, and half of that for children. "
    return f"{text}{adults} adults and {half} children come. How many dollars do they pay in all?", work


def cycling(draw: Draw) -> Problem:
    """A tour at two speeds."""
    name, fast, slow = draw.pick(NAMES), draw.whole(16, 30), draw.whole(8, 15)
    first, second = draw.whole(2, 5), draw.whole(1, 4)
    work = Working()
    a = work.step("On the plain that is {} km.", fast, "*", first)
    b = work.step("In the hills it is {} km.", slow, "*", second)
    work.step("The tour is {} km long.", a, "+", b)
    text = f"{name} cycles {first} hours over the plain at {fast} km an hour and {second} hours in the hills "
    return f"{text}at {slow} km an hour. How many km is that?", work


def classroom(draw: Draw) -> Problem:
    """Pencils shared evenly."""
    children, each, spare = draw.whole(12, 30), draw.whole(3, 9), draw.whole(4, 40)
    packs = children * each + spare
    what = draw.pick(("pencils", "stickers", "beads", "cards"))
    work = Working()
    given = work.step("The teacher gives out {}.", packs, "-", spare)
    work.step("Every child gets {}.", given, "/", children)
    text = f"A teacher has {packs} {what}, keeps {spare} and shares the others evenly among {children} children. "
    return f"{text}How many {what} does every child get?", work


def wages(draw: Draw) -> Problem:
    """Pay less what the way to work costs."""
    name, hourly, hours = draw.pick(NAMES), draw.whole(11, 28), draw.whole(4, 9)
    days, fare = draw.whole(3, 6), draw.whole(2, 8)
    work = Working()
    day = work.step("A day's work pays {} dollars.", hourly, "*", hours)
    net = work.step("Less the fare it is {} dollars.", day, "-", fare)
    work.step("Over the days that makes {} dollars.", net, "*", days)
    text = (
        f"{name} earns {hourly} dollars an hour, works {hours} hours a day and pays {fare} dollars a day for the bus. "
    )
    return f"{text}How many dollars are left after {days} days?", work


def aquarium(draw: Draw) -> Problem:
    """A tank that fills and leaks."""
    flow, leak, minutes = draw.whole(9, 25), draw.whole(2, 8), draw.whole(5, 30)
    start = draw.whole(10, 80)
    work = Working()
    gain = work.step("Each minute the tank gains {} litres.", flow, "-", leak)
    added = work.step("In that time it gains {} litres.", gain, "*", minutes)
    work.step("It then holds {} litres.", start, "+", added)
    text = f"A tank holds {start} litres. A hose adds {flow} litres a minute while {leak} litres a minute leak out. "
    return f"{text}How many litres does it hold after {minutes} minutes?", work


def ages(draw: Draw) -> Problem:
    """Two ages in some years."""
    older, younger = draw.pick(NAMES[:6]), draw.pick(NAMES[6:])
    age, times, years = draw.whole(4, 14), draw.whole(2, 5), draw.whole(3, 20)
    work = Working()
    now = work.step(f"{older} is {{}} now.", age, "*", times)
    work.step(f"In that time {older} will be {{}}.", now, "+", years)
    text = f"{younger} is {age} years old, and {older} is {times} times as old. "
    return f"{text}How old will {older} be in {years} years?", work


TEMPLATES: tuple[Callable[[Draw], Problem], ...] = (
    bakery,
    savings,
    bus,
    orchard,
    reading,
    tiles,
    concert,
    cycling,
    classroom,
    wages,
    aquarium,
    ages,
)


def make(n: int, seed: int) -> list[dict[str, str]]:
    """`n` different problems as ``{"question", "answer"}``, the templates in turn."""
    draw = Draw(f"questions {seed}")
    found: dict[str, str] = {}
    while len(found) < n:
        question, work = TEMPLATES[len(found) % len(TEMPLATES)](draw)
        found.setdefault(question, "\n".join([*work.lines, f"#### {work.last}"]))
    return [{"question": question, "answer": answer} for question, answer in found.items()]
