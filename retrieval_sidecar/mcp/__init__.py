"""An MCP server of an organization's knowledge: a client of the management API, with no way of its own to the data."""
