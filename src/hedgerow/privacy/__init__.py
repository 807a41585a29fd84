"""Price of a statement: bounds, noise scales, the key rule and the charge, from plan and budget alone."""
