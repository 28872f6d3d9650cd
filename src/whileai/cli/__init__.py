"""The command line `wai`: parse, call, print."""
