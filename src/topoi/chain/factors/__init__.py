"""Word factors: where the probability of a word in a topic comes from."""
