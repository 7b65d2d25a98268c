"""Restore: which pods move so that every workload has its floor, and all above it is on spot.

| module | what |
|---|---|
| ``snapshot`` | what a plan is made from |
| ``plan`` | all workloads, in their order, within a budget |
| ``attempts`` | how many go to spot at once without room, and how long the cluster rests |
| ``workload`` | one workload: why nothing is to be done, or which module decides |
| ``moving`` | what all moves ask of a pod, and what is said and written of them |
| ``move_deployment`` | one pod of a Deployment |
| ``move_gang`` | all pods of a gang at once, or none |
| ``move_stateful_set`` | one pod of a StatefulSet |
| ``template`` | a workload whose pod template places its pods |
| ``relaxed_floor`` | floors for which no on-demand node has room |
| ``cooldown`` | what failed before, and how long a workload rests |
| ``room`` | which nodes a pod would find room on |
"""
