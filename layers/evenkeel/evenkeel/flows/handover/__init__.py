"""The reconciler: takes every doomed node and every released pod, whoever left them."""
