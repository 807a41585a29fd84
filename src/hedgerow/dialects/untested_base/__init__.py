"""Base of dialects that were written without a server at hand: one spelling, and what differs left to each.

MariaDB's dialect began here and has been tested on a server since; all others on this base are experimental.
"""

from hedgerow.dialects.untested_base.dialect import UntestedBase

__all__ = ["UntestedBase"]
