"""From what is known of one workload to the plan for its pods."""
