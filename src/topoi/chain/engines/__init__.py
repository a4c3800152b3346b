"""Who holds the topics of a chain and moves them."""
