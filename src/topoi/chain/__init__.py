"""The Markov chain: its state, the loop, what it leaves."""
