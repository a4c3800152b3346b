"""`python -m topoi`: the command line, where the command `topoi` is not on the path."""

if __name__ == "__main__":  # not where a tool imports every module
    from topoi.cli import main

    main()
