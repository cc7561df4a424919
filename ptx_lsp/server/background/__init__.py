"""ptxas and nvdisasm in the background."""
