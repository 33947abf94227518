-- +goose Up
CREATE TABLE currencies (
    code text PRIMARY KEY,
    name text NOT NULL,
    symbol text NOT NULL,
    minor_units integer NOT NULL,
    is_active boolean NOT NULL DEFAULT true,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);

-- name and description are objects keyed by locale.
CREATE TABLE products (
    id uuid PRIMARY KEY,
    slug text NOT NULL,
    name jsonb NOT NULL,
    description jsonb,
    is_active boolean NOT NULL DEFAULT true,
    metadata jsonb,
    psp_product_id text,
    deleted_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);
CREATE UNIQUE INDEX products_slug_key ON products (slug) WHERE deleted_at IS NULL;

CREATE TABLE plans (
    id uuid PRIMARY KEY,
    product_id uuid NOT NULL REFERENCES products (id),
    slug text NOT NULL,
    name jsonb NOT NULL,
    description jsonb,
    pricing_type text NOT NULL,
    billing_cycle text NOT NULL,
    interval_unit text NOT NULL,
    interval_count integer NOT NULL,
    trial_days integer NOT NULL DEFAULT 0,
    sort_order integer NOT NULL DEFAULT 0,
    is_active boolean NOT NULL DEFAULT true,
    metadata jsonb,
    deleted_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);
CREATE UNIQUE INDEX plans_slug_key ON plans (slug) WHERE deleted_at IS NULL;
CREATE INDEX plans_product_id_idx ON plans (product_id);

CREATE TABLE plan_prices (
    id uuid PRIMARY KEY,
    plan_id uuid NOT NULL REFERENCES plans (id),
    currency text NOT NULL REFERENCES currencies (code),
    price_cents bigint NOT NULL,
    psp_price_id text,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);
CREATE UNIQUE INDEX plan_prices_plan_id_currency_key ON plan_prices (plan_id, currency);

CREATE TABLE features (
    id uuid PRIMARY KEY,
    code text NOT NULL,
    name jsonb NOT NULL,
    description jsonb,
    is_active boolean NOT NULL DEFAULT true,
    is_system boolean NOT NULL DEFAULT false,
    metadata jsonb,
    deleted_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);
CREATE UNIQUE INDEX features_code_key ON features (code) WHERE deleted_at IS NULL;

-- value is the quota of a quota entitlement and null for a boolean one.
CREATE TABLE entitlements (
    id uuid PRIMARY KEY,
    plan_id uuid NOT NULL REFERENCES plans (id),
    feature_id uuid NOT NULL REFERENCES features (id),
    type text NOT NULL,
    value bigint,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);
CREATE UNIQUE INDEX entitlements_plan_id_feature_id_key ON entitlements (plan_id, feature_id);

INSERT INTO currencies (code, name, symbol, minor_units, is_active, created_at, updated_at) VALUES
    ('EUR', 'Euro', '€', 2, true, '2026-01-01 00:00:00+00:00', '2026-01-01 00:00:00+00:00'),
    ('USD', 'US Dollar', '$', 2, true, '2026-01-01 00:00:00+00:00', '2026-01-01 00:00:00+00:00'),
    ('GBP', 'Pound Sterling', '£', 2, true, '2026-01-01 00:00:00+00:00', '2026-01-01 00:00:00+00:00');

INSERT INTO features (id, code, name, description, is_active, is_system, created_at, updated_at) VALUES
    ('019b76da-a800-7000-8000-000000000001', 'team-members',
     '{"en":"Team members","fr":"Membres de l’équipe","es":"Miembros del equipo","it":"Membri del team"}',
     NULL, true, true, '2026-01-01 00:00:00+00:00', '2026-01-01 00:00:00+00:00');
