"""What an analyst gets back."""

from hedgerow.answer.show import caption, rich_table
from hedgerow.answer.summary import Mechanism, Summary
from hedgerow.answer.table import Answer

__all__ = ["Answer", "Mechanism", "Summary", "caption", "rich_table"]
