"""What was measured, as the tables that README.md shows."""
