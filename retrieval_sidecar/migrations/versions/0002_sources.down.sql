SET LOCAL lock_timeout = '10s';

drop table ingest_rejection, ingest_taken, ingest_run, source_part;
drop index source_processing;
alter table source
    drop column is_processing, drop column url, drop column content_type, drop column size_bytes,
    drop column content_hash, drop column characters, drop column error_code, drop column error,
    drop column created_by, drop column processed_at;
