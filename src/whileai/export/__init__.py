"""Rows in, files for trainers and registries out; nothing privileged leaves."""
