"""What `import whileai` costs over bare Python, as whole processes."""

from __future__ import annotations

import subprocess
import sys

from timing import best, save


def main() -> None:
    """Median-free: the fastest of twenty starts each."""
    bare = best(lambda: subprocess.run([sys.executable, "-c", "pass"], check=True), 20)
    ours = best(lambda: subprocess.run([sys.executable, "-c", "import whileai"], check=True), 20)
    help_ = best(lambda: subprocess.run([sys.executable, "-m", "whileai", "--version"], check=True, stdout=-3), 20)
    save(
        "import",
        [
            {"what": "import whileai over bare Python", "milliseconds": round(1000 * (ours - bare), 1)},
            {"what": "wai --version", "milliseconds": round(1000 * help_, 1)},
        ],
    )


if __name__ == "__main__":
    main()
