"""Small logs of every format that no tool here writes, with invented values, as the bytes of a file."""

from __future__ import annotations

import io
import json


def lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def document(value, indent=2):
    return json.dumps(value, indent=indent).encode()


def parquet(rows):
    import pyarrow as pa
    import pyarrow.parquet as pq

    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), buffer)
    return buffer.getvalue()


def turns(*texts):
    return [{"role": ("user", "assistant")[place % 2], "content": text} for place, text in enumerate(texts)]


def verl(question="2+3?", reply="5", score=1.0, step=7, **more):
    return {
        "input": f"user\n{question}\nassistant\n",
        "output": reply,
        "gts": "5",
        "score": score,
        "step": step,
        **more,
    }


VERL = lines(
    verl(acc=True, pred="5"), verl(reply="6", score=0.0, acc=False, pred="6"),
    verl("7-1?", "6", 0.5, acc=False, pred="6"), verl("7-1?", "?", float("nan"), acc=False, pred=None),
)  # fmt: skip

TRL = parquet([
    {"step": 3, "prompt": f"q{task}", "completion": text, "right": right, "n_words": words, "advantage": 0.5}
    for task, text, right, words in
    [(0, "a", 1.0, 1.0), (0, "b c", 0.0, 2.0), (1, "d", float("nan"), 1.0), (1, "e", 1.0, 1.0)]
])  # fmt: skip

LIGHTEVAL = parquet([
    {
        "doc": {"query": f"Q{i}?", "choices": ["4", "5"], "gold_index": 1, "id": str(i + 10), "task_name": "sums|5"},
        "metric": {"em": float(i % 2), "n_chars": 12.0},
        "model_response": {"text": [f"reply {i}"], "text_post_processed": None, "logprobs": []},
    }
    for i in range(3)
])  # fmt: skip


def rollout(example=0, reply="5", reward=1.0, error=None, **more):
    return {
        "example_id": example, "prompt": turns("2+3?"), "completion": [{"role": "assistant", "content": reply}],
        "answer": "5", "reward": reward, "metrics": {"right": reward, "n_turns": 1}, "right": reward, "timing": {},
        "is_completed": True, "is_truncated": False, "stop_condition": "max_turns", "error": error, **more,
    }  # fmt: skip


VERIFIERS = lines(
    rollout(), rollout(reply="6", reward=0.0), rollout(1, error={"error": "ModelError", "message": "503"}, reward=0.0),
    rollout(1, error="APITimeoutError('slow')", reward=0.0),
)  # fmt: skip


def trace(name="solver", score=1.0, *, ok=True, errors=(), nodes=True):
    rewards = {
        "right": None if score is None else {"score": score, "weight": 0.5},
        "form": {"score": 1.0, "weight": 0.5},
    }
    return {
        "id": f"{name}-{score}", "agent": {"name": name, "config": {}}, "ok": ok, "errors": list(errors),
        "rewards": rewards if ok else {}, "metrics": {"n_turns": 1.0}, "stop_condition": "done",
        "nodes": [
            {"parent": None, "message": {"role": "user", "content": "2+3?"}},
            {"parent": 0, "message": {"role": "assistant", "content": "four"}},
            {"parent": 0, "message": {"role": "assistant", "content": "five"}},
        ] if nodes else [],
    }  # fmt: skip


def episode(key, *traces, ok=True, errors=()):
    task = {"type": "Sum", "key": key, "data": {"idx": 0, "prompt": "2+3?", "answer": "5"}}
    return {"id": f"e{key}", "task": task, "ok": ok, "errors": list(errors), "traces": list(traces)}


TRACES = lines(
    episode("a", trace(score=1.0), trace("critic", 0.0)), episode("a", trace(score=0.0), trace("critic", 0.0)),
    episode("b", trace(ok=False, errors=[{"type": "SandboxError", "message": "gone"}])),
    episode("b", trace(score=None)),
    episode("c", ok=False, errors=[{"type": "TimeoutError", "message": "no answer"}]),
)  # fmt: skip


def trial(task, number, reward=1.0, error=None):
    info = {"task": {"instruction": f"You want {task}.", "actions": [{"name": "cancel", "kwargs": {}}], "outputs": []}}
    info["reward_info"] = {"reward": reward, "info": {"r_actions": reward}, "actions": []}
    traj = [{"role": "system", "content": "Rules."}, *turns(f"hi {number}", "done")]
    if error:
        info, traj, reward = {"error": error, "traceback": "..."}, [], 0.0
    return {"task_id": task, "reward": reward, "info": info, "traj": traj, "trial": number}


TAU = document([
    trial(0, 0), trial(1, 0, 0.0), trial(0, 1, 0.0), trial(1, 1, error="litellm.APIError: overloaded"),
    trial(2, 0, error="litellm.Timeout: slow"), trial(2, 1, 1.0),
])  # fmt: skip


def simulation(task, number, reward=1.0, reason="user_stop"):
    held = None if reward is None else {"reward": reward, "reward_breakdown": {"DB": 1.0, "ACTION": reward}}
    call = {"id": "c1", "name": "find", "arguments": {"id": 3}, "requestor": "assistant"}
    return {
        "id": f"s{task}{number}", "task_id": task, "trial": number, "seed": 5, "duration": 1.0,
        "termination_reason": reason, "reward_info": held,
        "messages": [
            {"role": "user", "content": "hello", "turn_idx": 0},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "id": "c1", "content": "{}", "requestor": "assistant"},
            {"role": "assistant", "content": "found"},
        ],
    }  # fmt: skip


SIMULATIONS = [
    simulation("a", 0), simulation("a", 1, 0.0), simulation("b", 0, 0.0, "infrastructure_error"),
    simulation("b", 1, 0.0, "timeout"), simulation("c", 0, None), simulation("c", 1, 1.0000001),
]  # fmt: skip
TAU2_RUN = {
    "timestamp": "t",
    "info": {"num_trials": 2, "agent_info": {"llm": "m1"}, "environment_info": {"domain_name": "shop", "policy": "p"}},
    "tasks": [{"id": name, "user_scenario": {"instructions": f"You want {name}."}} for name in "abcd"],
}
TAU2 = document(TAU2_RUN | {"simulations": SIMULATIONS})

HUMAN_SAMPLES = lines(*({"task_id": f"HumanEval/{i}", "completion": "    return 1\n"} for i in (0, 0, 1)))
HUMAN_RESULTS = lines(*(
    {"task_id": f"HumanEval/{i}", "completion": "    return 1\n", "result": result, "passed": result == "passed"}
    for i, result in [(0, "passed"), (0, "failed: AssertionError"), (1, "timed out"), (1, "passed")]
))  # fmt: skip


def plus(task, base, added):
    return {
        "task_id": task,
        "solution": "def f(): ...",
        "base_status": base,
        "plus_status": added,
        "plus_fail_tests": [],
    }


EVALPLUS = document({
    "date": "2026-01-01 10:00", "hash": "ab",
    "eval": {
        "Mbpp/2": [plus("Mbpp/2", "pass", "pass"), plus("Mbpp/2", "pass", "fail"), plus("Mbpp/2", "fail", "pass")],
        "Mbpp/3": [plus("Mbpp/3", "timeout", "fail"), plus("Mbpp/3", "pass", "timeout"), plus("Mbpp/3", "pass", None)],
    },
})  # fmt: skip

SWE_RUN = {
    "total_instances": 7, "submitted_instances": 6, "completed_instances": 3,
    "completed_ids": ["x__y-1", "x__y-2", "x__y-7"], "resolved_ids": ["x__y-1"], "unresolved_ids": ["x__y-2", "x__y-7"],
    "empty_patch_ids": ["x__y-3"], "error_ids": ["x__y-4", "x__y-5"], "incomplete_ids": ["x__y-6"],
    "submitted_ids": [f"x__y-{i}" for i in (1, 2, 3, 4, 5, 7)],
}  # fmt: skip
SWE_1 = document(SWE_RUN, 4)
SWE_2 = document(SWE_RUN | {
    "infra_failure_ids": ["x__y-5"], "ambiguous_failure_ids": ["x__y-7"],
    "failure_reasons": {"x__y-4": "test_timeout", "x__y-5": "docker", "x__y-7": "no_tests_collected"},
    "schema_version": 2,
}, 4)  # fmt: skip


def instance(name, resolved, **more):
    tests = {
        "FAIL_TO_PASS": {"success": ["a"], "failure": [] if resolved else ["b"]},
        "PASS_TO_PASS": {"success": [], "failure": []},
    }
    state = {"patch_is_None": False, "patch_exists": True, "patch_successfully_applied": True}
    return {name: {**state, "resolved": resolved, "tests_status": tests, **more}}


SWE_INSTANCE = document(instance("x__y-1", True))


def result(question="2+3?", reply="5", success=True, provider="p:one", place=0, reason=None, **more):
    assertion = {"type": "equals", "value": "5"}
    part = {"pass": success, "score": float(success), "reason": "r", "assertion": assertion}
    return {
        "id": f"r{place}", "promptIdx": 0, "testIdx": place,
        "testCase": {"vars": {"q": question}, "assert": [assertion]},
        "promptId": "p", "provider": {"id": provider, "label": ""},
        "prompt": {"raw": f"Answer: {question}", "label": "l"},
        "vars": {"q": question}, "response": {"output": reply, "cached": False}, "success": success,
        "score": float(success), "namedScores": {"brevity": 0.5}, "failureReason": int(not success),
        "gradingResult": {"pass": success, "score": float(success), "reason": "why", "componentResults": [part]},
    } | ({"failureReason": reason} if reason is not None else {}) | more  # fmt: skip


RESULTS = [
    result(), result(place=1, success=False, reply="6"), result("7-1?", place=2, reply="6"),
    result("7-1?", place=3, success=False, reason=2, error="API error: 500", gradingResult=None, response=None),
]  # fmt: skip
PROMPTFOO = document({
    "evalId": "eval-1",
    "results": {"version": 3, "timestamp": "t", "prompts": [], "results": RESULTS, "stats": {"successes": 2}},
    "config": {},
})  # fmt: skip


def sample(name="s1", score=1.0, reply="5", **more):
    return {
        "schema_version": "0.2.1", "evaluation_id": "e", "model_id": "a/b", "evaluation_name": "sums",
        "sample_id": name,
        "interaction_type": "single_turn", "input": {"raw": "2+3?", "reference": ["5"]}, "output": {"raw": [reply]},
        "messages": None, "answer_attribution": [], "evaluation": {"score": score, "is_correct": bool(score)},
        "error": None, **more,
    }  # fmt: skip


EEE = lines(sample(), sample(score=0.0, reply="6"), sample("s2"), sample("s2", 0.0, error="no connection"))

PERTURBED = {"name": "typos", "robustness": True}


def request(name, *texts, trial=0, perturbation=None, **more):
    of = {
        "id": name,
        "input": {"text": f"Q {name}"},
        "split": "test",
        "references": [{"output": {"text": "five"}, "tags": ["correct"]}, {"output": {"text": "six"}, "tags": []}],
    }
    if perturbation:
        of["perturbation"] = perturbation
    return {
        "instance": of, "train_trial_index": trial, "output_mapping": {"A": "six", "B": "five"},
        "request": {"prompt": f"Prompt {name}", "num_completions": len(texts)},
        "result": {"success": True, "completions": [{"text": text, "logprob": 0.0} for text in texts]}, **more,
    }  # fmt: skip


def stats(name, value, trial=0, perturbation=None):
    made = [
        {"name": {"name": key, "split": "test"}, "count": 1, "sum": number, "mean": number}
        for key, number in (("num_references", 2.0), ("exact_match", value), ("quasi_exact_match", 1.0))
    ]
    found = {"instance_id": name, "train_trial_index": trial, "stats": made}
    return found | ({"perturbation": perturbation} if perturbation else {})


HELM_STATE = {
    "adapter_spec": {"method": "multiple_choice_joint", "model": "m"},
    "request_states": [
        request("id1", " B"), request("id1", " A", trial=1), request("id2", " A"), request("id2", " B", " A", trial=1),
        request("id1", " A", perturbation=PERTURBED), request("id3", "", result={"success": False, "error": "500"}),
    ],
}  # fmt: skip
HELM_STATS = [
    stats("id1", 1.0), stats("id1", 0.0, 1), stats("id2", 0.0), stats("id2", 1.0, 1), stats("id1", 0.0, 0, PERTURBED),
]  # fmt: skip
HELM = document(HELM_STATE)


def event(name, kind, **data):
    return {
        "run_id": "r",
        "event_id": 0,
        "sample_id": name,
        "type": kind,
        "data": data,
        "created_by": "",
        "created_at": "",
    }


OPENAI = lines(
    {"spec": {"eval_name": "add.dev", "completion_fns": ["m1"], "run_id": "r"}},
    event("add.dev.1", "sampling", prompt=turns("2+3?"), sampled=["5"]),
    event("add.dev.2", "sampling", prompt=turns("7-1?"), sampled=["5"]),
    event("add.dev.1", "match", correct=True, expected="5", picked="5"),
    event("add.dev.2", "match", correct=False, expected="6", picked=None),
    event("add.dev.2", "match", correct=True, expected="6", picked="6"),
    event("add.dev.3", "sampling", prompt=turns("1+1?"), sampled=["2"]),
    event("add.dev.4", "error", type="TimeoutError", message="timed out"),
    {"final_report": {"accuracy": 0.5}, "run_id": "r"},
)


def attributes(**values):
    kinds = {str: "stringValue", float: "doubleValue", bool: "boolValue", int: "intValue"}
    return [{"key": key.replace("__", "."), "value": {kinds[type(of)]: of}} for key, of in values.items()]


def evaluation(value=None, label=None, name="right", **more):
    found = {"gen_ai__evaluation__name": name, "gen_ai__evaluation__explanation": "because"}
    found |= {} if value is None else {"gen_ai__evaluation__score__value": value}
    found |= {} if label is None else {"gen_ai__evaluation__score__label": label}
    return attributes(**found, **more)


def span(trace_id, span_id, *evaluations, parent="", task=None, code=1, reply="5"):
    said = [{"role": "assistant", "parts": [{"type": "text", "content": reply}], "finish_reason": "stop"}]
    given = [{"role": "user", "parts": [{"type": "text", "content": "2+3?"}]}]
    of = {
        "gen_ai__operation__name": "chat",
        "gen_ai__request__model": "m1",
        "gen_ai__response__id": f"resp-{span_id}",
        "gen_ai__input__messages": json.dumps(given),
        "gen_ai__output__messages": json.dumps(said),
    }
    events = [{"name": "gen_ai.evaluation.result", "attributes": each} for each in evaluations]
    return {
        "traceId": trace_id, "spanId": span_id, "parentSpanId": parent, "name": "chat m1", "events": events,
        "attributes": attributes(**of, **({"task_id": task} if task else {})),
        "status": {"code": code, "message": "Timeout: slow" if code == 2 else ""},
    }  # fmt: skip


def spans(*made):
    return {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"scope": {}, "spans": list(made)}]}]}


def records(*made):
    return {"resourceLogs": [{"resource": {}, "scopeLogs": [{"logRecords": list(made)}]}]}


LOG_RECORD = {
    "eventName": "gen_ai.evaluation.result", "traceId": "", "spanId": "",
    "attributes": evaluation(1.0, gen_ai__response__id="resp-f"),
}  # fmt: skip
OTEL = lines(
    spans(span("t1", "a", evaluation(1.0), task="x"), span("t2", "b", evaluation(0.0), task="x", reply="6")),
    spans(span("t3", "c", evaluation(label="pass"), task="y"), span("t4", "d", task="y", code=2)),
    spans(span("t5", "e", parent="f"), span("t5", "f")),
    records(LOG_RECORD),
)


def fuse(question="2+3?", *scores, **more):
    made = [
        {"id": "s", "name": name, "dataType": kind, "value": value, "stringValue": word}
        for name, kind, value, word in scores
    ]
    return {"id": "t", "name": "n", "input": {"question": question}, "output": "5", "sessionId": None, "metadata": {},
            "scores": made, **more}  # fmt: skip


TRUE, FALSE = ("right", "BOOLEAN", 1, "True"), ("right", "BOOLEAN", 0, "False")
LANGFUSE = document({
    "data": [fuse("2+3?", TRUE, ("tone", "NUMERIC", 4.5, None)), fuse("2+3?", FALSE), fuse("7-1?"),
             fuse("7-1?", level="ERROR", statusMessage="500")],
    "meta": {"page": 1},
})  # fmt: skip


def run(example="x", score=1, **more):
    feedback = [] if score is None else [{"key": "right", "score": score, "value": None, "comment": "ok"}]
    return {"id": "r", "run_type": "chain", "reference_example_id": example, "parent_run_id": None, "error": None,
            "inputs": {"question": "2+3?"}, "outputs": {"answer": "5"}, "feedback": feedback, **more}  # fmt: skip


LANGSMITH = lines(
    run(), run(score=False), run("y", None), run("y", 0, error="ReadTimeout('slow')"), run(parent_run_id="p")
)


def brain(question="2+3?", score=1, *, root=True, **more):
    return {"id": "i", "span_id": "s", "root_span_id": "s" if root else "r", "input": {"q": question}, "output": "5",
            "expected": "5", "scores": {"right": score}, "error": None, "metadata": {}, **more}  # fmt: skip


BRAINTRUST = lines(brain(), brain(score=0.25), brain("7-1?", None), brain("7-1?", error="boom"), brain(root=False))

#: Format, bytes, and what the tally says: rows, tasks, scored, unscored, errors, time-outs, skipped; and the sum of
#: rewards.
SAMPLES = {
    "verl": ("verl", VERL, (4, 2, 3, 1, 0, 0, 0), 1.5),
    "trl": ("trl", TRL, (4, 2, 3, 1, 0, 0, 0), 2),
    "lighteval": ("lighteval", LIGHTEVAL, (3, 3, 3, 0, 0, 0, 0), 1),
    "verifiers": ("verifiers", VERIFIERS, (4, 2, 2, 0, 1, 1, 0), 1),
    "traces": ("verifiers-traces", TRACES, (5, 3, 2, 1, 1, 1, 0), 1.5),
    "tau": ("tau-bench", TAU, (6, 3, 4, 0, 1, 1, 0), 2),
    "tau2": ("tau2-bench", TAU2, (6, 3, 3, 1, 1, 1, 0), 2),
    "human_samples": ("human-eval", HUMAN_SAMPLES, (3, 2, 0, 3, 0, 0, 0), 0),
    "human_results": ("human-eval", HUMAN_RESULTS, (4, 2, 3, 0, 0, 1, 0), 2),
    "evalplus": ("evalplus", EVALPLUS, (6, 2, 4, 1, 0, 1, 0), 1),
    "swe_1": ("swe-bench", SWE_1, (6, 6, 4, 0, 2, 0, 1), 1),
    "swe_2": ("swe-bench", SWE_2, (6, 6, 4, 0, 1, 1, 1), 1),
    "swe_instance": ("swe-bench-instance", SWE_INSTANCE, (1, 1, 1, 0, 0, 0, 0), 1),
    "promptfoo": ("promptfoo", PROMPTFOO, (4, 2, 3, 0, 1, 0, 0), 2),
    "eee": ("every-eval-ever", EEE, (4, 2, 3, 0, 1, 0, 0), 2),
    "helm": ("helm", HELM, (6, 3, 0, 5, 1, 0, 0), 0),
    "openai": ("openai-evals", OPENAI, (4, 4, 2, 1, 0, 1, 1), 1),
    "otel": ("otel", OTEL, (5, 3, 4, 0, 0, 1, 0), 3),
    "langfuse": ("langfuse", LANGFUSE, (4, 2, 2, 1, 1, 0, 0), 1),
    "langsmith": ("langsmith", LANGSMITH, (4, 2, 2, 1, 0, 1, 0), 1),
    "braintrust": ("braintrust", BRAINTRUST, (4, 2, 2, 1, 1, 0, 0), 1.25),
}
