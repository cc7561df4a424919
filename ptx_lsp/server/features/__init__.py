"""What the server answers to. A module holds what belongs together; `feature` finds them."""
