"""What measurements are made on: clusters, AWS, Evenkeel's processes, and who watches them."""
