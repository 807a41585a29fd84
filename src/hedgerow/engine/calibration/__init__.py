"""What nobody stated, found privately: bounds, limits on rows and groups, and how much they cut off."""
