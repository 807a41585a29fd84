"""Objects whose modules are imported with the first call, because most processes never call them."""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["csr_array", "late"]


def late(module: str, name: str) -> Callable[..., Any]:
    """Return a function that imports a module when it is called, and then calls its object of this name.

    Example:
        >>> late("math", "floor")(2.5)
        2
    """

    def function(*arguments: Any, **settings: Any) -> Any:  # noqa: ANN401 - the signature of what is called
        return getattr(import_module(module), name)(*arguments, **settings)

    function.__name__ = name
    return function


if TYPE_CHECKING:
    from scipy.sparse import csr_array
else:
    csr_array = late("scipy.sparse", "csr_array")
