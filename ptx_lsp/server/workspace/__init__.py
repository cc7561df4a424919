"""The files of the workspace that the client does not have open."""
