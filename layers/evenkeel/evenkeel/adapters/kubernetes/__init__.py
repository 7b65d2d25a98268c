"""The Kubernetes API server over HTTPS: requests, watches, authentication."""
