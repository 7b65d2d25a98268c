"""What an event says about an instance, and what follows for its node.

``reading`` turns events into notices, one parser module per kind of event. ``marking`` decides
whether a notice changes a node's mark. ``marks`` holds the patches that make, raise and lift a
mark; nothing else writes one.
"""
