-- name: delete_tokens
-- Tokens of the smoke test's organization and of no other: one that an operator granted others too stays.
delete from voice_token t
where exists (select from voice_token_grant g where g.organization_id = %(organization_id)s and g.token_id = t.token_id)
  and not exists (
      select from voice_token_grant g where g.organization_id <> %(organization_id)s and g.token_id = t.token_id
  );

-- name: delete_items
-- Before their organization: its folders go with it, and an item holds its folder.
delete from knowledge_item where organization_id = %(organization_id)s;

-- name: delete_organization
-- By cascade: its knowledge, passages, calls and logs.
delete from organization where organization_id = %(organization_id)s returning true;
