"""The make-before-break move of a ReplicaSet's pods: release, wait, evict, or roll back."""
