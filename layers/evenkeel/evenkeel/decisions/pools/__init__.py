"""How the pods of a workload are spread over the pools of spot nodes."""
