"""Products of matrices and vectors on the device."""
