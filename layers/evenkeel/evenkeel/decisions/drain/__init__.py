"""How each pod of a doomed node goes: which way, by when, and in which order."""
