"""Sparse matrices: SciPy's, imported with the first that is made. Most answers make none."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scipy.sparse import csr_array
else:

    def csr_array(*contents: Any, **settings: Any) -> Any:  # noqa: ANN401 - SciPy's signature
        """Make a matrix that is stored by rows."""
        from scipy import sparse  # noqa: PLC0415 - a fifth of a second to load

        return sparse.csr_array(*contents, **settings)


__all__ = ["csr_array"]
