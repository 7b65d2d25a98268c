"""What an event says about an instance, and what follows for its node.

``kinds`` lists the kinds of event, each of which states all about itself in a module of its own.
``reading`` turns events into notices by them, ``concern`` says whether they can be true.
``result`` is what becomes of one that was delivered: it is done, or has to come again.
``which_notice`` decides whether a notice changes a node's mark, in the words of its kind.
``mark`` holds the patches that make, raise and lift a mark; nothing else writes one.
"""
