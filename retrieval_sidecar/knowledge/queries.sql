-- name: agent_of_number
select organization_id, agent_id from number_route where phone_number = %(phone_number)s;

-- name: lock_organization
-- Not `for update`: sessions refer to the row, and calls must not wait for whoever edits.
select from organization where organization_id = %(organization_id)s for no key update;
