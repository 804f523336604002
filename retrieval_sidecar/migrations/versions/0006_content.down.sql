SET LOCAL lock_timeout = '10s';

drop index instruction_directory_below, instruction_of_directory, folder_in_order, knowledge_item_source,
    knowledge_item_folder;
alter table knowledge_item alter column source_id reset (n_distinct), alter column folder_id reset (n_distinct);
drop table waiting_document;
alter table knowledge_item drop column set_by_hand;
drop index source_written;
alter table source drop column is_written;
