"""Restore: which pods move so that every workload has its floor, and all above it is on spot.

| module | what |
|---|---|
| ``snapshot`` | what a plan is made from |
| ``plan`` | all workloads, in their order, within a budget |
| ``case`` | one workload: why nothing is to be done, or which module decides |
| ``handover`` | one pod of a Deployment |
| ``gang`` | all pods of a gang at once, or none |
| ``ordinal`` | one pod of a StatefulSet |
| ``template`` | a workload whose pod template places its pods |
| ``relaxing`` | floors for which no on-demand node has room |
| ``memory`` | what failed before, and how long a workload rests |
| ``room`` | which nodes a pod would find room on |
"""
