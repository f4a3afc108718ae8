"""`python -m a2a_lab.cli`, for where the script is not on the path."""

from a2a_lab.cli import main

main()
