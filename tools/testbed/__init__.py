"""Measures deadline-aware scheduling over Multipath TCP: scenarios, runs, scores, reports.

Modules of the measured side (``cell`` and what it uses) need the standard library and iproute2
only; what needs more is imported by the host's side alone.
"""
