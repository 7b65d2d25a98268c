"""What Evenkeel costs on AWS, reckoned from what was measured and from a dated price file."""
