"""The operator's console: pages for a browser, and the sessions that let one speak to the management API."""
