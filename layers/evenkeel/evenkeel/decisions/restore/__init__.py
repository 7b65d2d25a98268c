"""Restore: which pods move so that every workload has its floor, and all above it is on spot.

| module | what |
|---|---|
| ``snapshot`` | what a plan is made from: a ``Candidate`` for each workload |
| ``plan`` | all workloads, in their order, within a budget |
| ``attempts`` | how many go to spot at once without room, and how long the cluster rests |
| ``workload`` | one workload: why nothing is to be done, or which module decides |
| ``moving`` | the moves: which pods go, why none may, and the writes |
| ``other_pool`` | a pod that goes to another pool, and which pools are full |
| ``template`` | a workload whose pod template places its pods |
| ``relaxed_floor`` | floors for which no on-demand node has room |
| ``step`` | what a plan consists of |
"""
