"""What operators write and set by hand: knowledge items, instructions, and the directories that these stand in.

Each change is one transaction with what searches read of it (`ingest.facts`): what is closed is closed from the next
search on. What it says takes a job (`jobs.documents`), and what it said before answers until then.
"""
