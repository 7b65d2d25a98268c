"""What the commands decide and say: pure, as the decisions of the functions are."""
