"""What the contract's own tools report."""


class ContractError(Exception):
    """Something about a contract is not in order; the text says what, and what to do."""
