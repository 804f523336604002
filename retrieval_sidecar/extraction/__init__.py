"""From an operator's file to Markdown, read by a process of its own that can harm nobody.

`process.extract` is the way in; everything that touches the bytes of a file runs behind it, in `__main__`, confined by
`confinement`. What a file is, is told from its content (`kind`), never from its name or from what an upload claims.
"""
