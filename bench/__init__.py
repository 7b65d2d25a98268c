"""What Evenkeel costs and how fast it is: measured, each figure beside its condition."""
