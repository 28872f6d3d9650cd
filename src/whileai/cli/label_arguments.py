"""What the commands about labels and judges take."""

from __future__ import annotations

from whileai.cli.parser import Parser, number, one_of, whole

_DATA = "files or patterns of rows, read as one data set"
_GOLD = "the key that holds the true verdict (gold_reward)"


def label(parser: Parser) -> None:
    """What ``wai label`` takes."""
    parser.add_argument("data", nargs="+", metavar="FILE", help="rows; of picked ones only those")
    parser.add_argument("--annotator", metavar="NAME", help="whose labels they are ($USER)")
    show = "also show this key of the rows, as info.answer; repeatable"
    parser.add_argument("--show", action="append", default=[], metavar="KEY", help=show)


def sample_for_labels(parser: Parser) -> None:
    """What ``wai sample-for-labels`` takes."""
    parser.add_argument("data", nargs="+", metavar="DATA", help=f"{_DATA}, judged")
    parser.add_argument("-n", "--n", type=whole, required=True, metavar="N", help="rows to pick")
    parser.add_argument("--seed", type=whole, default=0, metavar="N", help="of the draw (0)")
    parser.add_argument("--gold", default="gold_reward", metavar="KEY", help=_GOLD)


def judge_trust(parser: Parser) -> None:
    """What ``wai judge-trust`` takes."""
    parser.add_argument("data", nargs="+", metavar="DATA", help=_DATA)
    parser.add_argument("--gold", default="gold_reward", metavar="KEY", help=_GOLD)
    parser.add_argument("--labels", metavar="FILE", help="labels to put on the rows first, as wai label writes them")
    kind, who = one_of("human", "program", "model"), "who gave them: human (default), program, model"
    parser.add_argument("--kind", type=kind, default="human", metavar="KIND", help=who)
    parser.add_argument("--min-agreement", type=number, default=0.8, metavar="X", help="bar of agreement (0.8)")
    parser.add_argument("--min-kappa", type=number, default=0.6, metavar="X", help="bar of kappa (0.6)")
    wide = "width of an interval that more labels are counted for (0.1)"
    parser.add_argument("--width", type=number, default=0.1, metavar="X", help=wide)
    parser.add_argument("--level", type=number, default=0.95, metavar="L", help="of intervals and tests (0.95)")
    parser.add_argument("--gate", action="store_true", help="exit 1 unless the judge is trusted")


def compare_judges(parser: Parser) -> None:
    """What ``wai compare-judges`` takes."""
    parser.add_argument("judges", nargs="+", metavar="NAME=FILE", help="rows that carry that judge's verdicts")
    parser.add_argument("--rows", metavar="FILE", help="the labelled rows (those of the first judge that have gold)")
    parser.add_argument("--gold", default="gold_reward", metavar="KEY", help=_GOLD)
    parser.add_argument("--level", type=number, default=0.95, metavar="L", help="of intervals and tests (0.95)")
