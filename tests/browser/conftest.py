"""A browser, and pages that a report wrote. Without a Chromium the tests here are skipped and say so."""

from __future__ import annotations

import json
import os
import random
import shutil
from pathlib import Path

import pytest

import whileai as wai

CHROMIUM = os.environ.get("WHILEAI_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    "<img src=x onerror=alert(3)>",
    "javascript:alert(4)",
    "turned \u202e round",
    "\ud800 alone",
    "x" * 1_000_000,
    "nul \x00 nul",
    '"><svg onload=alert(5)>',
    "&lt;b&gt; `|@all <!-- -->",
]


# For a module, not the session: while it is open an event loop runs in this thread, and later tests could start none.
@pytest.fixture(scope="module")
def chromium():
    """One browser for all tests."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium here; WHILEAI_CHROMIUM names one")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


class Opened:
    """A page that was opened, and everything it said or asked for."""

    def __init__(self, context, path):
        self.said, self.asked = [], []
        self.page = context.new_page()
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.said.append(f"dialog {dialog.message}"), dialog.dismiss()))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.url = Path(path).resolve().as_uri()

    def go(self, hash="", ready="all"):
        self.page.goto(self.url + hash)
        if ready is not None:
            self.page.wait_for_selector(f"html[data-ready={ready}]")
        return self.page

    def clean(self):
        """Nothing but the file was asked for, and nothing was said."""
        kinds = [url for url in self.asked if not url.startswith(("data:,", "blob:"))]
        assert {url.partition("#")[0] for url in kinds} == {self.url}
        assert self.said == []


@pytest.fixture
def opened(chromium):
    """A function that opens a file in a context of its own; at the end the page must have been quiet."""
    contexts, pages = [], []

    def open_(path, *, hash="", ready="all", width=1280, quiet=True, **options):
        context = chromium.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        found = Opened(context, path)
        found.go(hash, ready)
        if quiet:
            pages.append(found)
        return found.page

    yield open_
    for found in pages:
        found.clean()
    for context in contexts:
        context.close()


def gsm8k_arm(entries, name):
    solutions = [entry[name]["solution"] for entry in entries]
    rewards = [entry[name]["is_correct"] for entry in entries]
    markers = [{"chars": len(solution)} for solution in solutions]
    return wai.rows([entry["question"] for entry in entries], solutions, rewards, markers=markers)


@pytest.fixture(scope="session")
def gsm8k(data_folder, tmp_path_factory):
    """The two GSM8K arms: rows, comparison, page."""
    text = (data_folder / "gsm8k" / "model_solutions.jsonl").read_text(encoding="utf-8")
    entries = [json.loads(line) for line in text.splitlines()]
    before, after = (gsm8k_arm(entries, name) for name in ("175b_finetuning", "6b_verification"))
    result = wai.compare(before, after, lower_is_better=["marker:chars"])
    path = tmp_path_factory.mktemp("gsm8k") / "report.html"
    return before, after, result, wai.report(result, path, before=before, after=after)


def tries(seed, gain, n=60, k=4):
    """Rows of a model on `n` tasks, `k` tries each."""
    draw = random.Random(seed)
    rows = []
    for task in range(n):
        rate = min(1.0, random.Random(task).random() + gain)
        rows += [
            {
                "task_id": f"q{task:03}",
                "prompt": f"Question {task}: what is {task} times {task}?",
                "final_text": f"It {draw.choice(['clearly is', 'may be'])} {task * task + draw.randrange(2)}.",
                "reward": int(draw.random() < rate),
                "gold_reward": int(draw.random() < rate) if task % 2 else None,
                "reason": "checked by hand" if task % 2 else "",
                "judge_name": "equal",
                "markers": {"chars": 40 + draw.randrange(20)},
                "kind": "abc"[task % 3],
            }
            for _ in range(k)
        ]
    return rows


@pytest.fixture(scope="session")
def full(tmp_path_factory):
    """A page with every section."""
    before, after = tries(1, 0), tries(2, 0.25)
    noise = wai.eval_variance(tries(3, 0), tries(4, 0), tries(5, 0))
    result = wai.compare(
        before, after, by="kind", run_std=noise.run_std, run_std_runs=3, must_not_regress=["marker:chars"]
    )
    others = [noise, wai.holdout_size(0.1, before=before, after=after), wai.select(before, mode="rl").report]
    path = tmp_path_factory.mktemp("full") / "report.html"
    return result, others, wai.report([result, *others], path, before=before, after=after, include_reference=True)


@pytest.fixture(scope="session")
def hostile(tmp_path_factory):
    """A page on which everything that comes from rows wants out."""
    before = [
        {
            "task_id": f"{text[:60]} {place}",
            "prompt": text,
            "final_text": text,
            "reward": 1,
            "reason": text,
            "judge_name": text[:60],
            "markers": {text[:40]: 1.0},
            "lang": text[:60],
            "steps": [{"tool": text[:200], "arguments": {text[:40]: text[:200]}, "result": text}],
        }
        for place, text in enumerate(HOSTILE)
    ]
    after = [
        {**row, "reward": place % 2, "final_text": row["final_text"][::-1] + " " + HOSTILE[place]}
        for place, row in enumerate(before)
    ]
    path = tmp_path_factory.mktemp("hostile") / "report.html"
    result = wai.compare(before, after, by="lang", must_not_regress=[f"marker:{HOSTILE[0][:40]}"])
    return wai.report([result, wai.hack_scan(before)], path, before=before, after=after)


@pytest.fixture(scope="session")
def one_arm(tmp_path_factory):
    """A page of one arm."""
    path = tmp_path_factory.mktemp("one") / "report.html"
    return wai.report(tries(1, 0), path)


@pytest.fixture(scope="session")
def agent(tmp_path_factory):
    """A page of an agent with tools, whose judge gives scores, with gold on half of the rows; some flips, none lost."""

    def arm(gain):
        draw = random.Random(gain)
        return [
            {
                "task_id": f"q{task:03}",
                "messages": [
                    {"role": "system", "content": "Be brief."},
                    {"role": "user", "content": f"Where is order {task}?"},
                    {
                        "role": "assistant",
                        "content": "Let me look.",
                        "tool_calls": [
                            {
                                "id": "c",
                                "type": "function",
                                "function": {"name": "get_order", "arguments": f'{{"id": {task}}}'},
                            }
                        ],
                    },
                    {"role": "tool", "tool_call_id": "c", "content": f'{{"status": "shelf {task}"}}'},
                    {"role": "assistant", "content": f"On shelf {task}."},
                ],
                "reward": round(min(1.0, 0.1 + task / 150 + gain), 3),
                "gold_reward": int(draw.random() < task / 100) if task % 2 else None,
            }
            for task in range(100)
        ]

    path = tmp_path_factory.mktemp("agent") / "report.html"
    before, after = arm(0.0), arm(0.125)
    return wai.report(wai.compare(before, after, target="reward"), path, before=before, after=after)
