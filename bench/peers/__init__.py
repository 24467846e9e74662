"""Third-party tools that the bench runs beside ours, each at its best: `from peers import globus`, bench/ and tests/e2e/ on sys.path."""
