"""The command line: settings, commands, progress and the closing summary."""
