"""`python -m nardy_rl` is `nardy-rl`."""

import sys

from nardy_rl.cli import main

if __name__ == "__main__":
    sys.exit(main())
