"""Accounts, the datasets that they may ask, and requests that wait for an owner's decision."""
