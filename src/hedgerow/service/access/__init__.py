"""Accounts: who may ask which datasets, and the requests that wait for an owner's word."""
