"""What becomes of a doomed node itself, from its cordon to its end or its return."""
