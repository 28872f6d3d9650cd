"""Real logs, written by the tools themselves in processes of their own; each script also says what the tool counted."""

from __future__ import annotations

import json
import subprocess
import sys

INSPECT = """
import json, sys
import inspect_ai._util.zipfile as zips
zips._MAX_INPUT_PER_FRAME = 1500  # several zstd frames a member, as in members above 200 MiB
from inspect_ai import Task, eval as run
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log, write_log_dir_manifest
from inspect_ai.log._recorders.chunked import convert_eval_logs_to_chunked
from inspect_ai.model import ChatMessageSystem, ChatMessageUser, ModelAPI, ModelOutput, modelapi
from inspect_ai.scorer import Score, match, mean, scorer
from inspect_ai.solver import solver

folder = sys.argv[1]
turn = [0]

class ApiTimeoutError(RuntimeError):
    pass

@modelapi(name="script")
class Script(ModelAPI):
    async def generate(self, input, tools, tool_choice, config):
        turn[0] += 1
        return ModelOutput.from_content("m", "5" if turn[0] % 3 else "It is 7.")

@scorer(metrics=[mean()])
def judge():
    async def score(state, target):
        if (state.sample_id, state.epoch) in [("q2", 1), (4, 3)]:
            return Score(value=float("nan"), explanation="the judge gave no grade")
        return Score(value=0.25 * state.epoch)
    return score

@scorer(metrics={"a": [mean()], "b": [mean()]})
def rubric():
    async def score(state, target):
        return Score(value={"a": 0.5, "b": state.epoch > 1})
    return score

@scorer(metrics=[mean()])
def n_words():
    async def score(state, target):
        return Score(value=len(state.output.completion.split()))
    return score

@solver
def breaking():
    async def solve(state, generate):
        if (state.sample_id, state.epoch) == ("q3", 2):
            raise RuntimeError("the tool crashed")
        if (state.sample_id, state.epoch) == ("q3", 3):
            raise ApiTimeoutError("no answer within 5 s")
        return await generate(state)
    return solve

def samples(ids):
    for i, name in enumerate(ids):
        turns = [ChatMessageSystem(content="Be brief."), ChatMessageUser(content="What is 1 + 4?")]
        metadata = {"passage": i // 2, "text": "word " * (400 if i < 2 else 3) + str(i)}
        yield Sample(id=name, input=f"What is {i} + 4?" if i else turns, target="5", metadata=metadata)

said = {}
def ran(name, task, **more):
    log = run(task, model="script/m", log_dir=f"{folder}/{name}", display="none", max_samples=1, **more)[0]
    read = read_eval_log(log.location)
    said[name] = {
        "file": log.location.removeprefix("file://"),
        "metrics": {f"{s.name}.{k}": m.value for s in log.results.scores for k, m in s.metrics.items()},
        "samples": [
            [str(s.id), s.epoch, s.output.completion, s.error and s.error.message, [m.text for m in s.messages]]
            for s in read.samples
        ],
    }

def task(name, ids, scorers, **more):
    return Task(name=name, dataset=list(samples(ids)), solver=breaking(), scorer=scorers, fail_on_error=False, **more)

sums = task("sums", ["q1", "q2", "q3", 4], [match(), rubric(), judge(), n_words()], epochs=3)
ran("eval", sums, log_format="eval")
ran("json", sums, log_format="json")
ran("counts", task("counts", ["q1", "q2"], [n_words()]), log_format="eval")
ran("parts", task("parts", ["q1", "q2"], [rubric()]), log_format="eval")
ran("scored", task("scored", ["q3"], [match()], epochs=2, score_on_error=True), log_format="eval")
write_log_dir_manifest(f"{folder}/eval")
convert_eval_logs_to_chunked(said["eval"]["file"], output_dir=f"{folder}/chunked", chunk_size=1)
print(json.dumps(said))
"""

LM_EVAL = """
import json, os, pathlib, sys
folder = pathlib.Path(sys.argv[1])
os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_HOME": str(folder / "cache")}
from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager

class Scripted(LM):
    turn = 0
    def generate_until(self, requests, disable_tqdm=False):
        return [self.reply(request.args[0]) for request in requests]
    def reply(self, prompt):
        self.turn += 1
        first = int(prompt.rpartition("What is ")[2].split()[0])
        return f"It is {first + 3 + (self.turn % 3 == 0)}.\\n#### {first + 3 + (self.turn % 4 == 0)}"
    def loglikelihood(self, requests, disable_tqdm=False):
        return [(-len(request.args[1]) / (1 + request.args[0].count("2")) , False) for request in requests]
    def loglikelihood_rolling(self, requests, disable_tqdm=False):
        return [-10.0 for request in requests]

docs = folder / "docs.jsonl"
lines = [
    {
        "question": f"What is {i} + 3?", "answer": f"so {i + 3}\\n#### {i + 3}", "text": f"text {i}",
        "options": ["ox", "horse", "a mouse"], "label": i % 3,
    }
    for i in range(8)
]
docs.write_text("".join(json.dumps(line) + "\\n" for line in lines))
data = {"dataset_path": "json", "dataset_kwargs": {"data_files": {"test": str(docs)}}, "test_split": "test"}
number = {"function": "regex", "regex_pattern": r"#### (\\-?[0-9]+)"}
loose = {"function": "regex", "group_select": 0, "regex_pattern": r"(\\-?[0-9]+)"}
first = {"function": "take_first"}
def mean(name, **more):
    return {"metric": name, "aggregation": "mean", "higher_is_better": True, **more}

sums = data | {
    "task": "sums", "output_type": "generate_until",
    "doc_to_text": "Question: {{question}}\\nAnswer:", "doc_to_target": "{{answer}}",
    "metric_list": [mean("exact_match", regexes_to_ignore=["(?s).*#### "])],
    "generation_kwargs": {"until": ["Question:"], "do_sample": False},
    "filter_list": [
        {"name": "strict-match", "filter": [number, first]}, {"name": "flexible-extract", "filter": [loose, first]}
    ],
}
animals = data | {
    "task": "animals", "output_type": "multiple_choice",
    "doc_to_text": "{{question}}", "doc_to_target": "label", "doc_to_choice": "{{options}}",
    "metric_list": [mean("acc"), mean("acc_norm")],
}
rolling = data | {
    "task": "rolling", "output_type": "loglikelihood_rolling", "doc_to_text": "", "doc_to_target": "{{text}}",
    "metric_list": [{"metric": "word_perplexity"}, {"metric": "bits_per_byte"}],
}
tasks = [sums, sums | {"task": "sums_four", "repeats": 4}, animals, rolling]
none = TaskManager(include_defaults=False)
results = simple_evaluate(model=Scripted(), tasks=tasks, log_samples=True, bootstrap_iters=0, task_manager=none)
tracker = EvaluationTracker(output_path=str(folder))
tracker.general_config_tracker.model_name_sanitized = "scripted"
samples = results.pop("samples")
tracker.save_results_aggregated(results=results, samples=samples)
for name in results["configs"]:
    tracker.save_results_samples(task_name=name, samples=samples[name])
print(json.dumps(results["results"]))
"""


def written(script, folder):
    """Run a script and return what it printed last, read as JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-c", script, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, cwd=folder)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])
