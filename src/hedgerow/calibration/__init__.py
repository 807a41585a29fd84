"""Bounds found privately: `calibrate`, and automatic bounds for a query without declared ones."""
