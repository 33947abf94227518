-- +goose Up
-- What a tenant was last shown of changing to a plan. It binds: the change that
-- follows within a quarter of an hour costs the same or does not happen. asked is
-- the number of seats that was asked for, 0 for as many as are needed, and quantity
-- what that came to.
DROP TABLE change_previews;
CREATE TABLE change_previews (
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    plan_id uuid NOT NULL REFERENCES plans (id),
    asked bigint NOT NULL,
    quantity bigint NOT NULL,
    proration_date timestamp with time zone NOT NULL,
    credit_cents bigint NOT NULL,
    charge_cents bigint NOT NULL,
    pending_cents bigint NOT NULL,
    shown_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    PRIMARY KEY (tenant_id, plan_id, asked)
);
