"""`python app.py` serves the arena's web app: the same as `arena serve`."""

import sys

from cli import main

if __name__ == "__main__":
    sys.exit(main(["serve", *sys.argv[1:]]))
