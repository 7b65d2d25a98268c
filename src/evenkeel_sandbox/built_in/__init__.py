"""The cluster that the command brings along: for the demo, and wherever no other is named."""
