"""HELM: a run, whose requests and whose statistics lie in two files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from whileai.readers.logs.base import Companion, Format, Log
from whileai.readers.logs.decoding import Wanted
from whileai.readers.logs.head import Head
from whileai.readers.logs.scored import Repeats, Scored, failed, id_of, listed
from whileai.readers.logs.scores import UNSCORED, Survey
from whileai.result.digits import count

STATE, STATS, SPEC = "scenario_state.json", "per_instance_stats.json", "run_spec.json"
REQUESTS = ("request_states",)
#: Statistics that may say whether a reply is right, the strictest first.
MAIN = (
    "exact_match", "quasi_exact_match", "prefix_exact_match", "quasi_prefix_exact_match", "final_number_exact_match",
    "math_equiv", "math_equiv_chain_of_thought", "chain_of_thought_correctness", "ifeval_strict_accuracy",
    "exact_match_with_references", "test_avg", "strict_acc", "f1_score", "classification_macro_f1", "rouge_l", "bleu_4",
)  # fmt: skip
#: How the names of statistics begin that count or time something.
PLAIN = (
    "num_", "max_prob", "logprob", "finish_reason_", "inference_", "training_", "batch_size", "predicted_index",
    "prompt_truncated", "perplexity", "bits_per_byte", "estimated_", "log_", "references", "none",
)  # fmt: skip
#: What rows need of a request; of its completions only how many there are.
THIN: tuple[Wanted, ...] = (
    ("instance", "id"), ("instance", "perturbation"), ("instance", "split"), "train_trial_index", "reference_index",
    "request_mode", ("result", "success"), ("result", "error"), ("result", "completions", "logprob"),
)  # fmt: skip
ORIGINAL = "original"

Key = tuple[str, str, int]


class HelmRun(Format):
    """A HELM run: a row for every completion of every instance and trial.

    The first statistic that says whether a reply is right is the reward (``exact_match`` before looser ones), or the
    one that ``filter=`` names. Instances as they are are read; ``filter=`` takes the name of a perturbation as well.
    """

    name = "helm"
    what = "a HELM run"

    def sniff(self, head: Head) -> bool:
        """The folder of a run, or its requests."""
        if head.kind == "folder":
            return STATE in head.members
        return head.is_document and "adapter_spec" in head.keys and isinstance(head.first.get("request_states"), list)

    def eval_name(self, head: Head) -> str | None:
        """The run, by its folder, which HELM names after the scenario and the model."""
        folder = head.path if head.kind == "folder" else head.path.absolute().parent
        return folder.name if (folder / SPEC).is_file() else None

    def read(self, log: Log) -> Iterator[dict[str, Any]]:
        """The rows of the run."""
        folder = log.path if log.head.kind == "folder" else log.path.absolute().parent
        requests = log.beside(log.path / STATE) if log.head.kind == "folder" else log
        reading = _Reading(log, requests, _stats_of(log, folder))
        yield from reading.rows()
        reading.finish()


class HelmSide(Companion):
    """The other files of a run."""

    name = ""
    what = "a file beside the requests of a HELM run"
    fix = f"Read the folder of the run, or its {STATE}."

    def sniff(self, head: Head) -> bool:
        """Statistics, predictions, requests or instances of a run, its specification or its scenario."""
        keys, first = set(head.keys), head.first
        if head.is_list:
            told = {"instance_id", "train_trial_index"} <= keys or {"input", "references", "split"} <= keys
            return told or (isinstance(first.get("name"), Mapping) and {"count", "sum"} <= keys)
        named = {"scenario_spec", "adapter_spec"} <= keys or {"definition_path", "tags", "name"} <= keys
        return head.is_document and named and "request_states" not in keys


def _perturbation(of: Any) -> str:
    """The name of what was done to an instance."""
    if not isinstance(of, Mapping):
        return ORIGINAL
    name = str(of.get("name") or "perturbed")
    return name if set(of) <= {"name", "robustness", "fairness", "computed_on", "seed"} else f"{name} {id_of(of)[5:9]}"


def _trial(of: Mapping[str, Any]) -> int:
    place = of.get("train_trial_index")
    return place if isinstance(place, int) else 0


def _stats_of(log: Log, folder: Any) -> dict[Key, dict[str, float]]:
    """The statistics of every instance, perturbation and trial."""
    path = folder / STATS
    if not path.is_file():
        log.note("no_statistics", f"there is no {STATS} beside the requests; nothing is scored.")
        return {}
    found: dict[Key, dict[str, float]] = {}
    for entry in log.beside(path).items(()):
        if entry.get("instance_id") is None:
            log.skip("statistics without an instance")
            continue
        key = str(entry["instance_id"]), _perturbation(entry.get("perturbation")), _trial(entry)
        held = found.setdefault(key, {})
        for stat in listed(entry.get("stats")):
            named = stat.get("name") if isinstance(stat, Mapping) else None
            name = named.get("name") if isinstance(named, Mapping) else named
            if isinstance(name, str) and isinstance(stat.get("mean"), (int, float)):
                held.setdefault(name, stat["mean"])
    return found


class _Reading:
    """The requests of one run, joined with their statistics."""

    def __init__(self, log: Log, requests: Log, stats: dict[Key, dict[str, float]]) -> None:
        self.log, self.requests, self.stats = log, requests, stats
        perturbations = list(dict.fromkeys((ORIGINAL, *(key[1] for key in stats))))
        survey, named = Survey(), log.choice in perturbations
        self.perturbation = str(log.choice) if named else ORIGINAL
        for key, held in stats.items():
            if key[1] == self.perturbation:
                for name, value in held.items():
                    survey.add(name, value)
        first = (*MAIN, *(name for name in survey.seen if not name.startswith(PLAIN)))
        self.scored = Scored(log, survey, first, others=False, what="statistic", choose=not named)
        self.others = [name for name in perturbations if name != self.perturbation]
        self.repeats = Repeats()
        self.seen: set[Key] = set()
        self.n_several = self.n_unjoined = 0

    def rows(self) -> Iterator[dict[str, Any]]:
        """A row for every completion; requests about the references of one instance are one row."""
        for request in self.requests.items(REQUESTS, *(() if self.log.texts else THIN)):
            instance = request.get("instance")
            if not isinstance(instance, Mapping) or instance.get("id") is None:
                self.log.skip("requests without an instance")
                continue
            key = str(instance["id"]), _perturbation(instance.get("perturbation")), _trial(request)
            if key[1] != self.perturbation or request.get("request_mode") == "calibration":
                continue
            if request.get("reference_index") is not None and key in self.seen:
                continue
            self.seen.add(key)
            yield from self._completions(request, instance, key)

    def _completions(
        self, request: Mapping[str, Any], instance: Mapping[str, Any], key: Key
    ) -> Iterator[dict[str, Any]]:
        result = request.get("result")
        result = result if isinstance(result, Mapping) else {}
        completions = result.get("completions")
        texts = [of.get("text") if isinstance(of, Mapping) else None for of in listed(completions)] or [None]
        stats = self.stats.get(key, {})
        self.n_unjoined += key not in self.stats and bool(self.stats)
        if request.get("reference_index") is not None:
            texts = [_chosen_reference(instance, stats)]
        if len(texts) > 1:
            self.n_several += 1
            keys = self.scored.keys({**stats, str(self.scored.name): None})
            keys |= {"reward": None, "judge_status": UNSCORED.status}
        else:
            keys = self.scored.keys(stats)
        if result.get("success") is False or result.get("error"):
            keys = failed(result.get("error"))
        for text in texts:
            row: dict[str, Any] = {"task_id": key[0], "rollout_index": self.repeats.next(key[0])}
            if self.log.texts:
                row |= {**_texts(request, instance), "final_text": text if isinstance(text, str) else ""}
            yield row | keys | {"trial": key[2]}

    def finish(self) -> None:
        """Say what was chosen, what else there was, and what could not be joined."""
        self.scored.finish(always=True)
        if self.others:
            text = f"instances that are {self.perturbation} were read; there is also {', '.join(self.others[:6])}."
            self.log.note("perturbation_chosen", text, "Choose with filter=.")
        if self.n_several:
            text = f"{count(self.n_several, 'instance')} with several completions and one value for each statistic; "
            text += "each completion is left unjudged."
            self.log.note("repeats_unjudged", text, "Judge each with wai.grade(rows, verifier).")
        if self.n_unjoined:
            self.log.note("unjoined", f"{count(self.n_unjoined, 'instance')} without statistics; they are unscored.")


def _texts(request: Mapping[str, Any], instance: Mapping[str, Any]) -> dict[str, Any]:
    """Prompt and gold of a request; of a choice the gold is the letter that the model was to give."""
    sent, asked = request.get("request"), instance.get("input")
    prompt = sent.get("prompt") if isinstance(sent, Mapping) else None
    row: dict[str, Any] = {"prompt": prompt or (asked.get("text") if isinstance(asked, Mapping) else asked) or ""}
    golds = [_reference(of) for of in listed(instance.get("references")) if "correct" in listed(_tags(of))]
    mapping = request.get("output_mapping")
    if isinstance(mapping, Mapping) and mapping:
        letters = [letter for letter, text in mapping.items() if text in golds]
        golds, row["choices"] = letters or golds, dict(mapping)
    if golds:
        row["privileged"] = {"reference": golds[0] if len(golds) == 1 else golds}
    return row


def _tags(reference: Any) -> Any:
    return reference.get("tags") if isinstance(reference, Mapping) else None


def _reference(reference: Any) -> Any:
    output = reference.get("output") if isinstance(reference, Mapping) else None
    return output.get("text") if isinstance(output, Mapping) else output


def _chosen_reference(instance: Mapping[str, Any], stats: Mapping[str, float]) -> Any:
    """The text of the reference that was likeliest, where the model was asked about each."""
    references, place = instance.get("references"), stats.get("predicted_index")
    if isinstance(references, list) and place is not None and 0 <= int(place) < len(references):
        return _reference(references[int(place)])
    return None
