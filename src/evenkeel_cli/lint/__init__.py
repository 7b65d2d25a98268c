"""``evenkeel lint``: Evenkeel's labels and annotations in manifests, checked without a cluster."""
