"""The device: arrays and stores on it, memory, errors, compilation, launches."""
