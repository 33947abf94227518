-- +goose Up
-- What came from another system with an import, so that a repetition finds it again.
-- key_hash is the SHA-256 of the id that it has there, digest that of the line that was
-- imported last; both keep nothing of a person. is_made says that the import made it, and
-- did not find it here.
CREATE TABLE imported (
    kind text NOT NULL,
    key_hash text NOT NULL,
    resource_id text NOT NULL,
    digest text NOT NULL,
    is_made boolean NOT NULL,
    imported_at timestamp with time zone NOT NULL,
    PRIMARY KEY (kind, key_hash)
);
CREATE INDEX imported_resource_id_idx ON imported (kind, resource_id);
