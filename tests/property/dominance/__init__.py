"""The same small world three times: nodes die, a plain drain empties them, Evenkeel does.

In no measure may a workload fare worse with Evenkeel than with the better of the other two.
"""
