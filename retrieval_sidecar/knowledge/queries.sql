-- name: agent_of_number
select organization_id, agent_id from number_route where phone_number = %(phone_number)s;
