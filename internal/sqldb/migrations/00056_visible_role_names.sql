-- +goose Up
-- Names have no characters that nobody sees. Roles that were named with them before lose
-- them, and get their id added where another role of the tenant, or a built-in one, has
-- the name that is left.
CREATE TABLE hidden_characters (
    n bigint PRIMARY KEY,
    c text NOT NULL
);
INSERT INTO hidden_characters (n, c) VALUES
    (1, CAST('{"c":"\u00ad"}' AS jsonb) ->> 'c'),
    (2, CAST('{"c":"\u061c"}' AS jsonb) ->> 'c'),
    (3, CAST('{"c":"\u180e"}' AS jsonb) ->> 'c'),
    (4, CAST('{"c":"\u200b"}' AS jsonb) ->> 'c'),
    (5, CAST('{"c":"\u200c"}' AS jsonb) ->> 'c'),
    (6, CAST('{"c":"\u200d"}' AS jsonb) ->> 'c'),
    (7, CAST('{"c":"\u200e"}' AS jsonb) ->> 'c'),
    (8, CAST('{"c":"\u200f"}' AS jsonb) ->> 'c'),
    (9, CAST('{"c":"\u202a"}' AS jsonb) ->> 'c'),
    (10, CAST('{"c":"\u202b"}' AS jsonb) ->> 'c'),
    (11, CAST('{"c":"\u202c"}' AS jsonb) ->> 'c'),
    (12, CAST('{"c":"\u202d"}' AS jsonb) ->> 'c'),
    (13, CAST('{"c":"\u202e"}' AS jsonb) ->> 'c'),
    (14, CAST('{"c":"\u2060"}' AS jsonb) ->> 'c'),
    (15, CAST('{"c":"\u2061"}' AS jsonb) ->> 'c'),
    (16, CAST('{"c":"\u2062"}' AS jsonb) ->> 'c'),
    (17, CAST('{"c":"\u2063"}' AS jsonb) ->> 'c'),
    (18, CAST('{"c":"\u2064"}' AS jsonb) ->> 'c'),
    (19, CAST('{"c":"\u2066"}' AS jsonb) ->> 'c'),
    (20, CAST('{"c":"\u2067"}' AS jsonb) ->> 'c'),
    (21, CAST('{"c":"\u2068"}' AS jsonb) ->> 'c'),
    (22, CAST('{"c":"\u2069"}' AS jsonb) ->> 'c'),
    (23, CAST('{"c":"\ufeff"}' AS jsonb) ->> 'c');

CREATE TABLE visible_role_names (
    id bigint PRIMARY KEY,
    tenant_id uuid NOT NULL,
    name text NOT NULL,
    name_key text NOT NULL,
    suffix text NOT NULL
);
INSERT INTO visible_role_names (id, tenant_id, name, name_key, suffix)
WITH RECURSIVE cleaned (id, tenant_id, n, name, name_key) AS (
    SELECT id, tenant_id, CAST(0 AS bigint), name, name_key FROM roles WHERE tenant_id IS NOT NULL
    UNION ALL
    SELECT r.id, r.tenant_id, h.n, replace(r.name, h.c, ''), replace(r.name_key, h.c, '')
    FROM cleaned r
    JOIN hidden_characters h ON h.n = r.n + 1
)
SELECT id, tenant_id, name, name_key, '' FROM cleaned WHERE n = 23;

UPDATE visible_role_names
SET suffix = ' ' || CAST(id AS text)
WHERE name_key IN ('', 'owner', 'admin', 'member') OR EXISTS (
    SELECT 1 FROM visible_role_names o
    WHERE o.tenant_id = visible_role_names.tenant_id AND o.name_key = visible_role_names.name_key AND o.id <> visible_role_names.id
);

UPDATE roles
SET name = (SELECT v.name || v.suffix FROM visible_role_names v WHERE v.id = roles.id),
    name_key = (SELECT v.name_key || v.suffix FROM visible_role_names v WHERE v.id = roles.id)
WHERE EXISTS (SELECT 1 FROM visible_role_names v WHERE v.id = roles.id AND v.name <> roles.name);

DROP TABLE visible_role_names;
DROP TABLE hidden_characters;
