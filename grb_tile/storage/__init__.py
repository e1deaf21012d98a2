"""Storage: the arrays of sparse, bitmap, CSR and DCSR forms and of tiles, and the conversions between them."""
