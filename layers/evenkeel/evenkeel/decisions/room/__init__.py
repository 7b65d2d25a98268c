"""On which nodes a pod would find room: what restore asks, and a voluntary move that breaks first.

| module | what |
|---|---|
| ``fleet`` | the nodes, and what is taken of each |
| ``rules`` | which nodes a pod may go to, by its rules, its volumes and the nodes' taints |
| ``rooms`` | which of them have room |
"""
