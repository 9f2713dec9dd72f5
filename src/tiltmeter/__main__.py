"""``python -m tiltmeter``: the command, where its script is not on the path."""

from tiltmeter.cli import main

main()
