-- name: PlansOfSlug :many
-- Deleted plans count as well.
SELECT id FROM plans WHERE slug = $1;

-- name: Plans :many
SELECT id, name FROM plans;
