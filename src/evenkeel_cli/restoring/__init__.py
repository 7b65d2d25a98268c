"""``evenkeel restore``: which pods would move and why, and on a real cluster the moves."""
