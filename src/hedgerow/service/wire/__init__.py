"""A server of the PostgreSQL protocol 3.0: private statements go to the gateway, everything else to the shadow."""
