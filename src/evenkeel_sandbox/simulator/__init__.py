"""An in-memory Kubernetes cluster with its controllers, its scheduler and a clock to move."""
