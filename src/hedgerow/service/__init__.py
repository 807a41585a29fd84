"""Ways to ask from other programs."""
