"""Recordings of launches: files from which a launch can be repeated without its inputs."""
