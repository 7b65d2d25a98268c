"""``evenkeel doctor``: each link between EC2's notice and the pod, and what is wrong with it.

A module has one subject. It gathers what its links depend on, and judges that by pure functions.
"""
