-- +goose Up
INSERT INTO role_permissions (role_id, permission)
SELECT r.id, 'audit.view' FROM roles r WHERE r.tenant_id IS NULL AND r.name IN ('owner', 'admin');
