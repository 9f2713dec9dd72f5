"""``python -m tiltmeter``: the command line, where the folder of commands is not on the path."""

from tiltmeter.cli import main

if __name__ == "__main__":
    main()
