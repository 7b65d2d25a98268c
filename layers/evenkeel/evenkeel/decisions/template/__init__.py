"""Placement without a webhook: what a workload's pod template says of capacity types.

| module | what |
|---|---|
| ``form`` | which preference and which spread keep a floor, and when others do as well |
| ``additions`` | what that adds to a template, and how it is taken off again |
"""
