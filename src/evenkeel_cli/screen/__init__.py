"""What is shown of an interruption: one value, for a terminal, for the page, and for programs.

``known.py`` is what a source gives, of a storm that goes on or is over; ``views.py`` is the value,
and ``making.py`` makes it.
"""
