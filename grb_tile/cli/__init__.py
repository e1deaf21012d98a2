"""The command `grb-tile`: graph algorithms on files.

`main.main` is the entry point, `main.COMMANDS` the list of commands.
"""
