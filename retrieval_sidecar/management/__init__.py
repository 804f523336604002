"""The management API: what operators do with their organization's knowledge."""
