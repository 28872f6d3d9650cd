"""``python -m whileai`` is `wai`."""

from whileai.cli.main import run

if __name__ == "__main__":
    run()
