"""Gather, decide, apply: one flow per function. No SDK, no decision of their own."""
