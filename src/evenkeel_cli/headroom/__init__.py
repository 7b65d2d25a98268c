"""Headroom: room on on-demand nodes that is kept free for pods that lose their spot node."""
