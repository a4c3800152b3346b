"""What tests share. Imported as `support.…`: pytest has the folder `tests` on its path (pyproject.toml)."""
