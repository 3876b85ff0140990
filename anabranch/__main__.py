"""`python -m anabranch`: the command."""

from anabranch.cli.main import command

command()
