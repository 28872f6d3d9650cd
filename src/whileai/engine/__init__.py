"""The engine: agents met in planned situations, in a world that answers, refuses and sometimes breaks."""
