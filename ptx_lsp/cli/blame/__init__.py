"""`ptx-lint blame`: the messages of ptxas in the log of a build, at the source."""
