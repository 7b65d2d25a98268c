"""Evenkeel into a cluster and out of it, step by step.

A command gathers a `site.Site` (the account, the cluster, the stack that is there) and what is
wanted (`choices.Choices`). `plan` puts the steps into their order. Each step first looks what of it
is still to be done, and then does it: so what was interrupted goes on when it is run again.
"""
