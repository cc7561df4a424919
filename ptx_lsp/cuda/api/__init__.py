"""The functions of the driver, a file for each section of the manual of the CUDA driver API."""
