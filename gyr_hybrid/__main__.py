"""``python -m gyr_hybrid`` is the command line."""

from gyr_hybrid.cli import main

main()
