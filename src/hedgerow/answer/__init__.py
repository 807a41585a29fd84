"""What an analyst gets back."""

from hedgerow.answer.kinds import kind_of
from hedgerow.answer.notes import caption, notes
from hedgerow.answer.show import rich_table
from hedgerow.answer.summary import Mechanism, Summary
from hedgerow.answer.table import Answer

__all__ = ["Answer", "Mechanism", "Summary", "caption", "kind_of", "notes", "rich_table"]
