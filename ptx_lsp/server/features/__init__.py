"""The features of the server. Each module has related features; `feature` finds them."""
