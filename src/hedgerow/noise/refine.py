"""The slow half of the rounded sampler: settle one draw in ball arithmetic, with as many bits as it takes."""

from flint import arb, ctx

from hedgerow.noise import source

MORE_BITS = 64


class TailBits:
    """The leading bits of a uniform tail probability below 1/2, drawn as they are needed.

    The probability lies in [head, head + 1) / 2^length; the bits that follow are independent and fair.
    """

    def __init__(self, head: int, length: int = 64) -> None:
        self.head = head
        self.length = length

    def extend(self) -> None:
        """Draw more bits behind those that are known."""
        self.head = (self.head << MORE_BITS) | source.bits(MORE_BITS)
        self.length += MORE_BITS

    def reach(self, magnitude: int, scale: float) -> bool:
        """Say whether the draw rounds to `magnitude` or more: is it below the tail beyond magnitude - 1/2?

        The tail is a ball that certainly holds the exact value, so a comparison that succeeds is right
        whatever the precision; one that fails asks for more bits.
        """
        while True:
            with ctx.workprec(self.length + MORE_BITS):
                boundary = arb(2 * magnitude - 1) / (arb(scale) * arb(8).sqrt())
                tail = (boundary.erfc() / 2) * arb(2) ** self.length
                if arb(self.head + 1) <= tail:
                    return True
                if tail <= arb(self.head):
                    return False
            self.extend()


def refine(tail_bits: TailBits, scale: float, low: int = 0, high: int | None = None) -> int:
    """Find the magnitude of round(N(0, scale^2)) whose tail probability starts with `tail_bits`.

    Args:
        tail_bits: What has been drawn of the probability of a larger magnitude.
        scale: The standard deviation, taken as its exact binary value.
        low: A magnitude that is certainly reached.
        high: One that certainly is not; searched for when not given.
    """
    step = max(1, int(scale))
    while high is None:
        if tail_bits.reach(low + step, scale):
            low += step
        else:
            high = low + step
    while high - low > 1:
        middle = (low + high) // 2
        if tail_bits.reach(middle, scale):
            low = middle
        else:
            high = middle
    return low
