"""The eviction gate: gather what an eviction depends on, decide, release its pod.

| module | what |
|---|---|
| ``flow`` | one eviction, from the review to the verdict |
| ``reading`` | its pod, that pod's workload and node; what is decided on is read afresh |
| ``eviction`` | what is asked for |
| ``places`` | how many evictions are decided about at once, and which namespace's is next |
| ``crowd`` | those that are put off: since when each waits, and when it comes back |
| ``window`` | how many pods are released and wait for their replacements |
"""
