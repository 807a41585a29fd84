"""Base of dialects that were written without a test server; each engine overrides what differs.

MariaDB's dialect started here and has been tested on a server since; all others on this base are experimental.
"""

from hedgerow.dialects.untested_base.dialect import UntestedBase
from hedgerow.dialects.untested_base.fragments import nulls_sorted

__all__ = ["UntestedBase", "nulls_sorted"]
