"""PTX that is read from disk because the client asks for it: members of containers, and caches of kernels."""
