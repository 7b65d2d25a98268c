"""How each pod of a doomed node goes: which way, by when, and in which order.

| module | what |
|---|---|
| ``owner`` | who owns a pod, and what its owners say about it |
| ``namespace_objects`` | the budgets, services, claims and groups that bear on a pod |
| ``route`` | which way a pod goes, and why |
| ``returning`` | pods that come back to the node that they are taken from |
| ``gangs`` | pods that go together, or not at all |
| ``deadlines`` | by when a pod has to go |
| ``census`` | what is known of a workload's pods, and how many there are of each kind |
| ``plan`` | what becomes of all pods of a workload, from its census |
| ``make_first`` | released pods, and those that wait for a release |
| ``eviction_asked`` | released pods whose eviction somebody else asked for |
| ``turns`` | pods that go one by one where a quota refuses a second one |
| ``break_first`` | pods that go before their replacements run |
| ``last_moment`` | pods whose nodes die: what they leave of their workload |
| ``verdicts`` | what can become of a pod, in words and writes |
| ``pace`` | which pods are released next, of all workloads |
| ``agenda`` | when forced evictions begin, of all workloads |
| ``budgets`` | disruption budgets and bounds, as Kubernetes computes them |
| ``refusal`` | what follows when a budget refuses an eviction |
| ``writes`` | the requests that move pods |
"""
