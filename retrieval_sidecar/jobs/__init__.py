"""The work on sources: a queue in the database, and the workers that take from it.

`queue.JobQueue.request` puts a source into the queue, `worker.work` takes it out, `process.process_source` is what is
done then. The queue is procrastinate's, in the schema `jobs` of the same database. What holds between workers:

- One at a time works on a source: the library sees to it by its lock, and `runs.begin` by one of PostgreSQL's, which is
  gone with the connection of whoever dies.
- What is wanted stands in the source (`is_processing`), how far it is in its run. A job is only a reminder: one that is
  lost is put into the queue again by the sweep, one too many finds nothing to do.
- What was changed by hand (`content`) has one job for an organization: `queue.JobQueue.request_documents` and
  `documents.index_documents`. It is a reminder too: which documents wait stands in `waiting_document`.
- Nothing is written for a run that was ended meanwhile, by a deletion or by another content: each transaction looks.
"""
