"""Which capacity type a new pod asks for, and the patch that says so."""
