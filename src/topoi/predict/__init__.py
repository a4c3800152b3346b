"""Topics and scores of new documents."""
