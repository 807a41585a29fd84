"""A PostgreSQL without rows that answers everything a client asks that is not private: catalogs, settings, versions."""
