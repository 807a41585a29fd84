"""HTTP: the API of the service, its authentication, and the Model Context Protocol."""
