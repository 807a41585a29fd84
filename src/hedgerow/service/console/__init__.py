"""The console: pages in a browser on which people ask, look and decide, over the gateway."""
