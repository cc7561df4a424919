"""Dataflow: liveness, static single assignment, definite assignment and where pointers lead."""
