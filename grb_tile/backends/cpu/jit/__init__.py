"""From a template to machine code: specialisation, the cache on disk, threads."""
