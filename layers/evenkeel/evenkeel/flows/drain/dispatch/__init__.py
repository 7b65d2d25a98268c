"""From the plans of all workloads to the requests that are sent, and from replies to the cache."""
