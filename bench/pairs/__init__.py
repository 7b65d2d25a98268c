"""Two commits in the same storms, in turn: what a change does on a machine of changing speed."""
