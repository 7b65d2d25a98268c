"""The function behind the notice queue: find the nodes of notices, and mark them.

| module | what |
|---|---|
| ``flow`` | one delivery of notices: gather, decide, apply |
| ``nodes`` | which node an instance is |
| ``hooks`` | how long an Auto Scaling group waits for a lifecycle hook |
| ``probe`` | whether an event still gets to the API server |
"""
