"""The page of `wai.report` in a real browser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import whileai as wai

AXE = Path(__file__).parent / "vendor" / "axe-core-4.14.1.min.js"
NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")


def flat(text):
    return " ".join(text.split())


def option(page, place=0):
    return page.locator("[role=option]").nth(place)


def count(page):
    return flat(page.inner_text("#count"))


# digits --------------------------------------------------------------------------------------------------------------


def test_digits_are_those_of_the_print(gsm8k, opened):
    _, _, result, _ = gsm8k
    page = opened(gsm8k[3].path)
    shown = flat(page.inner_text("#verdict"))
    lines = flat(str(result)).split(" note ")[0]
    for line in str(result).split("\n")[:2]:
        assert flat(line) in shown, line
    assert page.title() == result.summary
    page.click("#changed summary")
    cells = page.locator("#changed tbody tr").all_inner_texts()
    assert flat(" ".join(cells)) in lines
    assert page.locator("#how pre").first.text_content() == str(result)
    for note in result.notes:
        assert f"{note.code} {note.text}" in flat(page.inner_text("#left-out"))


def test_every_figure_has_its_numbers_as_a_table(full, opened):
    page = opened(full[2].path)
    assert page.locator("figure").count() >= 7
    for figure in page.locator("figure").all():
        shown = figure.locator(".wide svg").get_attribute("aria-label")
        told = figure.evaluate("f => [...f.querySelectorAll('td, th, figcaption')].map(e => e.textContent).join(' ')")
        assert set(NUMBER.findall(shown)) <= set(NUMBER.findall(told)), shown


def test_every_section_stands_in_its_order(full, opened):
    page = opened(full[2].path)
    assert page.locator("h1").count() == 1
    assert page.locator("h2").all_inner_texts() == [
        "What changed?",
        "Which tasks flipped?",
        "How are tasks spread?",
        "What do more tries buy?",
        "Where?",
        "Can the judge be trusted?",
        "How noisy is the eval?",
        "How many tasks would prove it?",
        "What is worth training on?",
        "What was left out?",
        "How was it computed?",
    ]


# the browser of tasks ------------------------------------------------------------------------------------------------


def test_filters_count_what_the_comparison_counts(gsm8k, opened):
    page = opened(gsm8k[3].path)
    better, worse, same = gsm8k[2]._moved
    assert "180.5 each expected if nothing changed" in page.inner_text("#flips")
    for name, n in {"lost": worse, "won": better, "same": same, "all": 1319, "unstable": 0, "uncertain": 0}.items():
        page.click(f"[data-f={name}]")
        assert count(page).startswith(f"{n:,} task")
        assert page.locator(f"[data-f={name}][aria-pressed=true] span").inner_text() == f"{n:,}"
        if n:
            assert option(page).get_attribute("aria-setsize") == str(n)


def test_search_finds_by_id_prompt_completion_and_phrase(gsm8k, opened):
    before, after, _, _ = gsm8k
    page = opened(gsm8k[3].path)
    page.click("[data-f=all]")
    page.fill("#q", before[700]["task_id"])
    assert count(page).startswith("1 task,")
    page.fill("#q", "JANET ducks")
    wanted = sum(
        all(word in " ".join([a["prompt"], a["final_text"], b["final_text"]]).lower() for word in ("janet", "ducks"))
        for a, b in zip(before, after, strict=True)
    )
    assert count(page).startswith(f"{wanted} task")
    page.fill("#q", '"ducks lay 16 eggs per day"')
    assert count(page).startswith("1 task,")
    option(page).click()
    assert page.locator("#detail .prompt mark").first.inner_text() == "ducks lay 16 eggs per day"
    page.fill("#q", "no such words anywhere")
    assert count(page).startswith("0 tasks")


def test_a_flip_opens_with_both_completions_and_what_differs(gsm8k, opened):
    before, after, _, _ = gsm8k
    page = opened(gsm8k[3].path)
    option(page, 3).click()
    task = page.inner_text("#detail h3")
    old, new = (next(row for row in rows if row["task_id"] == task) for rows in (before, after))
    assert (old["reward"], new["reward"]) == (1, 0)
    assert flat(page.inner_text("#detail .prompt")) == flat(old["prompt"])
    sides = page.locator("#detail .reply")
    read = """pre => { const copy = pre.cloneNode(true);
        for (const mark of copy.querySelectorAll('.vh')) mark.remove(); return copy.textContent; }"""
    assert sides.nth(0).evaluate(read) == old["final_text"]
    assert sides.nth(1).evaluate(read) == new["final_text"]
    assert sides.nth(0).locator("del").count() > 0
    assert sides.nth(1).locator("ins").count() > 0
    assert sides.nth(0).locator("ins").count() == 0
    page.click("#differ")
    assert page.locator("#detail del, #detail ins").count() == 0
    cells = page.locator("#detail .markers tbody tr").all_inner_texts()
    change = new["markers"]["chars"] - old["markers"]["chars"]
    assert flat(cells[0]).split()[-1] == f"{change:+g}"


def test_orders(gsm8k, opened):
    before, after, _, _ = gsm8k
    page = opened(gsm8k[3].path)
    page.click("[data-f=all]")
    change = {a["task_id"]: b["markers"]["chars"] - a["markers"]["chars"] for a, b in zip(before, after, strict=True)}
    page.select_option("#sort", "up:marker:chars")
    assert option(page).locator(".name").inner_text() == min(change, key=lambda task: (-change[task], task))
    page.select_option("#sort", "gain")
    assert "+1.00" in option(page).inner_text()
    page.select_option("#sort", "task")
    assert option(page).locator(".name").inner_text() == min(change)


def test_pairs_of_rows(full, opened):
    page = opened(full[2].path)
    option(page).click()
    assert "rows 1 of 4" in page.inner_text("#detail")
    page.get_by_role("button", name="Next rows").click()
    assert "rows 2 of 4" in page.inner_text("#detail")
    assert page.evaluate("document.activeElement.textContent") == "Next rows"
    assert re.search(r"before( [PF]){4} \| after( [PF]){4}", page.inner_text("#detail"))


def test_tool_steps_are_read_and_searched(agent, opened):
    page = opened(agent.path)
    assert page.get_attribute("[data-f=won]", "aria-pressed") == "true", "the first filter that holds a task"
    page.fill("#q", '"shelf 42"')
    assert count(page) == "1 task, texts of all"
    option(page).click()
    assert flat(page.inner_text("#detail .prompt")) == "system: Be brief. user: Where is order 42?"
    steps = page.locator("#detail .side").first.locator(".steps li")
    assert [flat(text) for text in steps.all_inner_texts()] == [
        "assistant Let me look.",
        'call get_order {"id": 42}',
        'result {"status": "shelf 42"}',
    ]
    assert steps.nth(2).locator("mark").inner_text() == "shelf 42"
    assert page.locator("#detail .side summary").first.inner_text() == "3 steps before the reply, 1 tool call"
    assert page.locator("#detail .reply").first.inner_text() == "On shelf 42."


def test_scores_stand_against_gold(agent, opened):
    page = opened(agent.path)
    section = page.locator("section", has=page.get_by_role("heading", name="Can the judge be trusted?"))
    assert section.locator(".answer").inner_text().startswith("On 50 labelled rows the judge's score is ")
    assert section.locator(".wide svg circle").count() == 10
    section.locator("summary").first.click()
    cells = [flat(text).split() for text in section.locator("tbody tr").all_inner_texts()]
    assert [row[2] for row in cells] == ["5"] * 10
    scores = [float(row[1]) for row in cells]
    assert scores == sorted(scores)


def test_by_keyboard_alone(full, opened):
    page = opened(full[2].path)
    keys, focus = page.keyboard, "document.activeElement.id"
    keys.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    seen = set()
    for _ in range(120):
        keys.press("Tab")
        found = page.evaluate(
            "document.activeElement.id || document.activeElement.dataset.f || document.activeElement.tagName"
        )
        if found == "BODY":
            break
        seen.add(found)
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none", found
    assert {"theme", "print", "q", "sort", "differ", "list", "lost", "all", "SUMMARY"} <= seen
    page.focus("#list")
    keys.press("6")
    keys.press("ArrowDown")
    keys.press("j")
    assert page.get_attribute("#list", "aria-activedescendant") == "task-2"
    keys.press("Enter")
    assert page.evaluate("document.activeElement.tagName") == "H3"
    opened_task = page.inner_text("#detail h3")
    keys.press("n")
    assert "rows 2 of 4" in page.inner_text("#detail")
    keys.press("d")
    assert page.get_attribute("#differ", "aria-pressed") == "false"
    keys.press("j")
    assert page.inner_text("#detail h3") != opened_task
    keys.press("Escape")
    assert page.evaluate(focus) == "list"
    keys.press("End")
    n = int(page.locator("[data-f=all] span").inner_text())
    assert page.get_attribute("#list", "aria-activedescendant") == f"task-{n - 1}"
    keys.press("2")
    assert page.get_attribute("[data-f=won]", "aria-pressed") == "true"
    keys.press("s")
    assert page.input_value("#sort") == "gain"
    keys.press("/")
    assert page.evaluate(focus) == "q"
    keys.type("dn2?/s")
    assert page.input_value("#q") == "dn2?/s"
    keys.press("Escape")
    assert page.evaluate(focus) == "list"
    keys.press("?")
    assert page.locator("#help").get_attribute("open") is not None


def test_a_link_points_at_a_task_and_back_works(gsm8k, opened):
    before, _, _, _ = gsm8k
    task = before[12]["task_id"]
    page = opened(gsm8k[3].path, hash=f"#t={task}")
    assert page.inner_text("#detail h3") == task
    page.click("[data-f=lost]")
    option(page, 1).click()
    other = page.inner_text("#detail h3")
    assert other != task
    assert f"t={other}" in page.url
    option(page, 2).click()
    page.go_back()
    page.wait_for_function("name => document.querySelector('#detail h3').textContent === name", arg=other)


# safety --------------------------------------------------------------------------------------------------------------


def test_hostile_rows_are_text(hostile, opened):
    page = opened(hostile.path)
    page.click("[data-f=all]")
    assert count(page) == "10 tasks, texts of all"
    elements = "document.querySelectorAll('img, iframe, object, a:not(.skip), svg [onload], [onerror]').length"
    shown = []
    for place in range(10):
        option(page, place).click()
        assert page.evaluate(elements) == 0
        shown.append(page.inner_text("#detail"))
    everything = "\n".join(shown)
    for text in (
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(3)>",
        "[U+202E]",
        "[U+D800]",
        "[U+0000]",
        "&lt;b&gt;",
    ):
        assert text in everything
    assert "995,000 characters cut" in everything
    assert page.locator("script:not([type])").count() == 1


def test_the_page_cannot_be_written_to(hostile, opened):
    page = opened(hostile.path, quiet=False)
    for code in (
        "document.body.innerHTML = '<b>x</b>'",
        "document.body.insertAdjacentHTML('beforeend', '<b>x</b>')",
        "setTimeout('1')",
        "document.body.append(Object.assign(document.createElement('script'), {textContent: '1'}))",
        "new DOMParser().parseFromString('<b>x</b>', 'text/html')",
    ):
        assert (
            page.evaluate(f"(() => {{ try {{ {code}; return 'done' }} catch (error) {{ return error.name }} }})()")
            == "TypeError"
        )


def test_what_reads_without_scripts(gsm8k, opened):
    page = opened(gsm8k[3].path, java_script_enabled=False, ready=None)
    assert gsm8k[2].summary in flat(page.inner_text("#verdict"))
    assert page.locator("#browser").is_hidden()
    assert page.locator("#static > details").count() == 70
    page.click("#static details >> nth=0")
    assert page.locator("#static details[open] pre").count() == 3
    assert page.locator("#changed svg").first.is_visible()


# looks ---------------------------------------------------------------------------------------------------------------


def with_all_open(opened, found, **options):
    """A page with a task and all that folds opened."""
    page = opened(found[-1].path if isinstance(found, tuple) else found.path, **options)
    if page.locator("[role=option]").count():
        option(page).click()
    for summary in page.locator("main details:not([open]) > summary").all():
        if summary.is_visible():
            summary.click()
    return page


PAGES = pytest.mark.parametrize("name", ["gsm8k", "full", "hostile", "one_arm", "agent"])
LETTERS = """() => [...document.querySelectorAll("svg")].filter(s => s.getBoundingClientRect().width).map(s => {
    const scale = s.getBoundingClientRect().width / s.width.baseVal.value;
    return scale * parseFloat(getComputedStyle(s.querySelector("text")).fontSize); })"""


@PAGES
def test_no_width_scrolls_sideways(name, opened, request):
    page = with_all_open(opened, request.getfixturevalue(name))
    for width in (1280, 700, 375, 320):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        if width >= 375:
            assert min(page.evaluate(LETTERS)) >= 10, "the letters of a figure are too small to read"


def faults(page):
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        (fault["id"], fault["impact"], [node["html"][:200] for node in fault["nodes"]][:3])
        for fault in found["violations"]
    ]


@PAGES
def test_axe_finds_no_fault(name, opened, request):
    page = with_all_open(opened, request.getfixturevalue(name))
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert faults(page) == [], scheme


@pytest.mark.parametrize("options", [{"width": 375}, {"forced_colors": "active"}])
def test_axe_on_a_phone_and_with_forced_colours(full, opened, options):
    assert faults(with_all_open(opened, full, **options)) == []


def test_themes_and_print(full, opened, tmp_path):
    page = opened(full[2].path, color_scheme="dark")
    back = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(back)
    for name, colour in (("light", "rgb(255, 255, 255)"), ("dark", dark), ("system", dark)):
        page.click("#theme")
        assert page.inner_text("#theme") == f"Theme: {name}"
        assert page.evaluate(back) == colour
    option(page).click()
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(back) == "rgb(255, 255, 255)"
    assert not page.locator("#list").is_visible()
    assert page.locator("#print-list p").count() == min(20, int(page.locator("[data-f=lost] span").text_content()))
    assert page.locator("#changed table").is_visible()
    assert page.locator("#detail .reply").first.is_visible()
    assert page.pdf(path=tmp_path / "page.pdf").startswith(b"%PDF")


# size ----------------------------------------------------------------------------------------------------------------


def test_sizes(gsm8k, one_arm):
    from whileai.pages.page import asset

    assert len((asset("page.css") + asset("report.js")).encode()) < 60_000
    assert gsm8k[3].n_bytes < 2_000_000
    assert one_arm.n_bytes < 200_000


def test_a_hundred_thousand_tasks(opened, tmp_path):
    def rows(step):
        return [
            {
                "task_id": f"task-{i}",
                "prompt": f"Question {i}: {i * 7919 % 1_000_003} and {i * 104_729 % 999_983}?",
                "final_text": f"{i * step % 100_003} is what I found, by {i * 31 % 977} steps.",
                "reward": int(i * step % 100 < 50 + step % 7),
            }
            for i in range(100_000)
        ]

    before, after = rows(7919), rows(104_729)
    written = wai.report([before, after], tmp_path / "large.html")
    assert written.n_bytes <= 5_000_000
    assert written.n_listed == 100_000
    page = opened(written.path, ready=None)
    page.wait_for_selector("html[data-ready]")
    assert page.locator("[role=option]").count() < 60
    page.wait_for_selector("html[data-ready=all]")
    page.click("[data-f=all]")
    page.fill("#q", "task-99999")
    assert count(page).startswith("1 task,")
    assert f"texts of {written.n_with_texts:,} of 100,000 tasks fit" in flat(page.inner_text("#left-out"))
