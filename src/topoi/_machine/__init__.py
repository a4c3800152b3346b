"""The processor: compiler, vectors, random streams, threads."""
