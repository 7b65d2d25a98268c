"""When an interruption begins and is over, what it did, and how it is told of."""
