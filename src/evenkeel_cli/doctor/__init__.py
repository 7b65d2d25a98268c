"""``evenkeel doctor``: each link between EC2's notice and the pod, and what is wrong with it.

``aws`` and ``cluster`` have a table of checks each. What checks go by is gathered in their facts.
"""
