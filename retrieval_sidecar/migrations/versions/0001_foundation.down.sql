SET LOCAL lock_timeout = '10s';

-- Roles and extensions stay: they belong to the cluster and may serve other databases and schemas.
drop table voice_token_grant, voice_token, search_log, session_event, call_session, passage_code, common_word,
    passage_words, vector_count, passage_vector, passage, embedding_cache, language_center, embedding_space,
    number_route, agent_knowledge_base, agent_folder, agent_item, agent_instruction_directory, agent_instruction,
    phone_agent, instruction_segment, instruction, instruction_directory, item_segment, knowledge_item, folder, source,
    knowledge_base, contact_segment, contact, segment, organization;
revoke usage on schema public from answerline_voice, answerline_manage;
