"""What workloads cost a month: the price file, and how costs are shown."""
