"""Priors of topics and words, and how they are learned."""
