-- name: space
-- The space that answers, what centres its questions, and everybody's segments: the decision is about what is stored,
-- whoever may hear it.
select e.space_id, e.model, coalesce(e.partition_id, 0) as partition_id, coalesce(e.dimensions, 0) as dimensions,
    o.default_language, o.default_region, o.time_zone,
    array(select s.segment_id from segment s where s.organization_id = o.organization_id) as segment_ids
from organization o
left join embedding_space e on e.organization_id = o.organization_id and e.active
where o.organization_id = %(organization_id)s;

-- name: items_named
select external_id, array_agg(item_id) from knowledge_item
where organization_id = %(organization_id)s and external_id = any(%(external_ids)s) and deleted_at is null
group by external_id;

-- name: store
update embedding_space set calibration = %(calibration)s
where organization_id = %(organization_id)s and space_id = %(space_id)s and active;
