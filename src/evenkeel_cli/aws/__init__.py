"""AWS as the commands ask it: the account, an EKS cluster, a stack."""
