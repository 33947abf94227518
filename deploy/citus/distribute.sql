-- Spreads a database of Tenantry over the machines of a Citus cluster (docs/scaling.md). Written by
-- make generate from internal/sqldb/distribution: change that. It was never run on Citus.
--
-- Run it once with psql on the coordinator, after "tenantry migrate" and with all instances
-- stopped. It needs Citus 12, and the coordinator known to the cluster (citus_set_coordinator_host).
-- It is one transaction, which changes all or nothing and locks every table that it names. Tables
-- that it does not name stay on the coordinator.
\set ON_ERROR_STOP on
BEGIN;
SET LOCAL citus.multi_shard_modify_mode TO 'sequential';

-- References are taken off while tables move, and added again below.
ALTER TABLE change_previews DROP CONSTRAINT change_previews_plan_id_fkey;
ALTER TABLE change_previews DROP CONSTRAINT change_previews_tenant_id_fkey;
ALTER TABLE checkouts DROP CONSTRAINT checkouts_currency_fkey;
ALTER TABLE checkouts DROP CONSTRAINT checkouts_plan_id_fkey;
ALTER TABLE checkouts DROP CONSTRAINT checkouts_replaces_subscription_id_fkey;
ALTER TABLE checkouts DROP CONSTRAINT checkouts_tenant_id_fkey;
ALTER TABLE former_psp_customers DROP CONSTRAINT former_psp_customers_tenant_id_fkey;
ALTER TABLE invoice_documents DROP CONSTRAINT invoice_documents_invoice_id_fkey;
ALTER TABLE invoice_lines DROP CONSTRAINT invoice_lines_invoice_id_fkey;
ALTER TABLE invoice_lines DROP CONSTRAINT invoice_lines_meter_id_fkey;
ALTER TABLE invoice_lines DROP CONSTRAINT invoice_lines_plan_id_fkey;
ALTER TABLE invoice_lines DROP CONSTRAINT invoice_lines_tenant_id_fkey;
ALTER TABLE invoices DROP CONSTRAINT invoices_subscription_id_fkey;
ALTER TABLE invoices DROP CONSTRAINT invoices_tenant_id_fkey;
ALTER TABLE payment_entries DROP CONSTRAINT payment_entries_tenant_id_fkey;
ALTER TABLE psp_customers DROP CONSTRAINT psp_customers_tenant_id_fkey;
ALTER TABLE psp_invoice_lines DROP CONSTRAINT psp_invoice_lines_tenant_id_fkey;
ALTER TABLE psp_invoices DROP CONSTRAINT psp_invoices_tenant_id_fkey;
ALTER TABLE psp_operations DROP CONSTRAINT psp_operations_subscription_id_fkey;
ALTER TABLE psp_operations DROP CONSTRAINT psp_operations_tenant_id_fkey;
ALTER TABLE quota_refusals DROP CONSTRAINT quota_refusals_tenant_id_meter_id_fkey;
ALTER TABLE subscriptions DROP CONSTRAINT subscriptions_currency_fkey;
ALTER TABLE subscriptions DROP CONSTRAINT subscriptions_pending_plan_id_fkey;
ALTER TABLE subscriptions DROP CONSTRAINT subscriptions_plan_id_fkey;
ALTER TABLE subscriptions DROP CONSTRAINT subscriptions_tenant_id_fkey;
ALTER TABLE trials DROP CONSTRAINT trials_product_id_fkey;
ALTER TABLE trials DROP CONSTRAINT trials_subscription_id_fkey;
ALTER TABLE trials DROP CONSTRAINT trials_tenant_id_fkey;
ALTER TABLE usage_alerts DROP CONSTRAINT usage_alerts_tenant_id_meter_id_fkey;
ALTER TABLE usage_counters DROP CONSTRAINT usage_counters_tenant_id_meter_id_fkey;
ALTER TABLE usage_events DROP CONSTRAINT usage_events_tenant_id_meter_id_fkey;
ALTER TABLE usage_hours DROP CONSTRAINT usage_hours_tenant_id_meter_id_fkey;
ALTER TABLE usage_keys DROP CONSTRAINT usage_keys_tenant_id_meter_id_fkey;
ALTER TABLE usage_refusals DROP CONSTRAINT usage_refusals_tenant_id_meter_id_fkey;
ALTER TABLE usage_streams DROP CONSTRAINT usage_streams_meter_id_fkey;
ALTER TABLE usage_streams DROP CONSTRAINT usage_streams_tenant_id_fkey;
ALTER TABLE waiting_items DROP CONSTRAINT waiting_items_operation_id_fkey;
ALTER TABLE waiting_items DROP CONSTRAINT waiting_items_subscription_id_fkey;
ALTER TABLE waiting_items DROP CONSTRAINT waiting_items_tenant_id_fkey;

-- Unique keys contain the tenant. Its column comes last, so that they find what they found before.
UPDATE invoice_documents SET tenant_id = (SELECT i.tenant_id FROM invoices i WHERE i.id = invoice_documents.invoice_id)
WHERE tenant_id IS NULL;
ALTER TABLE invoice_documents ALTER COLUMN tenant_id SET NOT NULL;
ALTER TABLE checkouts DROP CONSTRAINT checkouts_pkey, ADD CONSTRAINT checkouts_pkey PRIMARY KEY (id, tenant_id);
DROP INDEX checkouts_psp_session_id_key;
CREATE UNIQUE INDEX checkouts_psp_session_id_key ON checkouts (psp_session_id, tenant_id);
ALTER TABLE former_psp_customers DROP CONSTRAINT former_psp_customers_pkey, ADD CONSTRAINT former_psp_customers_pkey PRIMARY KEY (psp_customer_id, tenant_id);
ALTER TABLE invoice_documents DROP CONSTRAINT invoice_documents_pkey, ADD CONSTRAINT invoice_documents_pkey PRIMARY KEY (invoice_id, tenant_id);
DROP INDEX invoice_lines_id_key;
CREATE UNIQUE INDEX invoice_lines_id_key ON invoice_lines (id, tenant_id);
ALTER TABLE invoice_lines DROP CONSTRAINT invoice_lines_pkey, ADD CONSTRAINT invoice_lines_pkey PRIMARY KEY (invoice_id, "position", tenant_id);
DROP INDEX invoices_number_key;
CREATE UNIQUE INDEX invoices_number_key ON invoices (number, tenant_id);
ALTER TABLE invoices DROP CONSTRAINT invoices_pkey, ADD CONSTRAINT invoices_pkey PRIMARY KEY (id, tenant_id);
DROP INDEX invoices_psp_invoice_id_key;
CREATE UNIQUE INDEX invoices_psp_invoice_id_key ON invoices (psp_invoice_id, tenant_id);
DROP INDEX invoices_year_sequence_key;
CREATE UNIQUE INDEX invoices_year_sequence_key ON invoices (year, sequence, tenant_id);
ALTER TABLE payment_entries DROP CONSTRAINT payment_entries_pkey, ADD CONSTRAINT payment_entries_pkey PRIMARY KEY (id, tenant_id);
DROP INDEX psp_customers_psp_customer_id_key;
CREATE UNIQUE INDEX psp_customers_psp_customer_id_key ON psp_customers (psp_customer_id, tenant_id);
ALTER TABLE psp_invoices DROP CONSTRAINT psp_invoices_pkey, ADD CONSTRAINT psp_invoices_pkey PRIMARY KEY (psp_invoice_id, tenant_id);
DROP INDEX psp_operations_pending_key;
CREATE UNIQUE INDEX psp_operations_pending_key ON psp_operations (subscription_id, tenant_id) WHERE (state = 'pending'::text);
ALTER TABLE psp_operations DROP CONSTRAINT psp_operations_pkey, ADD CONSTRAINT psp_operations_pkey PRIMARY KEY (id, tenant_id);
ALTER TABLE subscriptions DROP CONSTRAINT subscriptions_pkey, ADD CONSTRAINT subscriptions_pkey PRIMARY KEY (id, tenant_id);
DROP INDEX subscriptions_psp_subscription_id_key;
CREATE UNIQUE INDEX subscriptions_psp_subscription_id_key ON subscriptions (psp_subscription_id, tenant_id);
ALTER TABLE usage_alerts DROP CONSTRAINT usage_alerts_pkey, ADD CONSTRAINT usage_alerts_pkey PRIMARY KEY (id, tenant_id);
ALTER TABLE usage_record_keys DROP CONSTRAINT usage_record_keys_pkey, ADD CONSTRAINT usage_record_keys_pkey PRIMARY KEY (stream, hash, tenant_id);
ALTER TABLE usage_records DROP CONSTRAINT usage_records_pkey, ADD CONSTRAINT usage_records_pkey PRIMARY KEY (stream, recorded_at, id, tenant_id);
ALTER TABLE usage_refusals DROP CONSTRAINT usage_refusals_pkey, ADD CONSTRAINT usage_refusals_pkey PRIMARY KEY (id, tenant_id);
DROP INDEX usage_streams_number_key;
CREATE UNIQUE INDEX usage_streams_number_key ON usage_streams (number, tenant_id);

-- Reference tables are whole on every machine.
SELECT create_reference_table('currencies');
SELECT create_reference_table('features');
SELECT create_reference_table('meters');
SELECT create_reference_table('meter_links');
SELECT create_reference_table('meter_prices');
SELECT create_reference_table('meter_sales');
SELECT create_reference_table('products');
SELECT create_reference_table('plans');
SELECT create_reference_table('entitlements');
SELECT create_reference_table('plan_prices');
SELECT create_reference_table('tenants');
SELECT create_reference_table('usage_layout');

-- Distributed tables are cut by tenant, all at the same places.
SELECT create_distributed_table('change_previews', 'tenant_id');
SELECT create_distributed_table('former_psp_customers', 'tenant_id');
SELECT create_distributed_table('payment_entries', 'tenant_id');
SELECT create_distributed_table('psp_customers', 'tenant_id');
SELECT create_distributed_table('psp_invoice_lines', 'tenant_id');
SELECT create_distributed_table('psp_invoices', 'tenant_id');
SELECT create_distributed_table('subscriptions', 'tenant_id');
SELECT create_distributed_table('checkouts', 'tenant_id');
SELECT create_distributed_table('invoices', 'tenant_id');
SELECT create_distributed_table('invoice_documents', 'tenant_id');
SELECT create_distributed_table('invoice_lines', 'tenant_id');
SELECT create_distributed_table('psp_operations', 'tenant_id');
SELECT create_distributed_table('trials', 'tenant_id');
SELECT create_distributed_table('usage_record_keys', 'tenant_id');
SELECT create_distributed_table('usage_records', 'tenant_id');
SELECT create_distributed_table('usage_streams', 'tenant_id');
SELECT create_distributed_table('quota_refusals', 'tenant_id');
SELECT create_distributed_table('usage_alerts', 'tenant_id');
SELECT create_distributed_table('usage_counters', 'tenant_id');
SELECT create_distributed_table('usage_events', 'tenant_id');
SELECT create_distributed_table('usage_hours', 'tenant_id');
SELECT create_distributed_table('usage_keys', 'tenant_id');
SELECT create_distributed_table('usage_refusals', 'tenant_id');
SELECT create_distributed_table('waiting_items', 'tenant_id');

-- References between distributed tables name the tenant on both sides.
ALTER TABLE change_previews ADD CONSTRAINT change_previews_plan_id_fkey FOREIGN KEY (plan_id) REFERENCES plans (id);
ALTER TABLE change_previews ADD CONSTRAINT change_previews_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id);
ALTER TABLE checkouts ADD CONSTRAINT checkouts_currency_fkey FOREIGN KEY (currency) REFERENCES currencies (code);
ALTER TABLE checkouts ADD CONSTRAINT checkouts_plan_id_fkey FOREIGN KEY (plan_id) REFERENCES plans (id);
ALTER TABLE checkouts ADD CONSTRAINT checkouts_replaces_subscription_id_fkey FOREIGN KEY (replaces_subscription_id, tenant_id) REFERENCES subscriptions (id, tenant_id);
ALTER TABLE checkouts ADD CONSTRAINT checkouts_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id);
ALTER TABLE former_psp_customers ADD CONSTRAINT former_psp_customers_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id);
ALTER TABLE invoice_documents ADD CONSTRAINT invoice_documents_invoice_id_fkey FOREIGN KEY (invoice_id, tenant_id) REFERENCES invoices (id, tenant_id);
ALTER TABLE invoice_lines ADD CONSTRAINT invoice_lines_invoice_id_fkey FOREIGN KEY (invoice_id, tenant_id) REFERENCES invoices (id, tenant_id);
ALTER TABLE invoice_lines ADD CONSTRAINT invoice_lines_meter_id_fkey FOREIGN KEY (meter_id) REFERENCES meters (id);
ALTER TABLE invoice_lines ADD CONSTRAINT invoice_lines_plan_id_fkey FOREIGN KEY (plan_id) REFERENCES plans (id);
ALTER TABLE invoice_lines ADD CONSTRAINT invoice_lines_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id);
ALTER TABLE invoices ADD CONSTRAINT invoices_subscription_id_fkey FOREIGN KEY (subscription_id, tenant_id) REFERENCES subscriptions (id, tenant_id);
ALTER TABLE invoices ADD CONSTRAINT invoices_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id);
ALTER TABLE payment_entries ADD CONSTRAINT payment_entries_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id);
ALTER TABLE psp_customers ADD CONSTRAINT psp_customers_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id);
ALTER TABLE psp_invoice_lines ADD CONSTRAINT psp_invoice_lines_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id);
ALTER TABLE psp_invoices ADD CONSTRAINT psp_invoices_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id);
ALTER TABLE psp_operations ADD CONSTRAINT psp_operations_subscription_id_fkey FOREIGN KEY (subscription_id, tenant_id) REFERENCES subscriptions (id, tenant_id);
ALTER TABLE psp_operations ADD CONSTRAINT psp_operations_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id);
ALTER TABLE quota_refusals ADD CONSTRAINT quota_refusals_tenant_id_meter_id_fkey FOREIGN KEY (tenant_id, meter_id) REFERENCES usage_streams (tenant_id, meter_id);
ALTER TABLE subscriptions ADD CONSTRAINT subscriptions_currency_fkey FOREIGN KEY (currency) REFERENCES currencies (code);
ALTER TABLE subscriptions ADD CONSTRAINT subscriptions_pending_plan_id_fkey FOREIGN KEY (pending_plan_id) REFERENCES plans (id);
ALTER TABLE subscriptions ADD CONSTRAINT subscriptions_plan_id_fkey FOREIGN KEY (plan_id) REFERENCES plans (id);
ALTER TABLE subscriptions ADD CONSTRAINT subscriptions_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id);
ALTER TABLE trials ADD CONSTRAINT trials_product_id_fkey FOREIGN KEY (product_id) REFERENCES products (id);
ALTER TABLE trials ADD CONSTRAINT trials_subscription_id_fkey FOREIGN KEY (subscription_id, tenant_id) REFERENCES subscriptions (id, tenant_id);
ALTER TABLE trials ADD CONSTRAINT trials_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id);
ALTER TABLE usage_alerts ADD CONSTRAINT usage_alerts_tenant_id_meter_id_fkey FOREIGN KEY (tenant_id, meter_id) REFERENCES usage_streams (tenant_id, meter_id);
ALTER TABLE usage_counters ADD CONSTRAINT usage_counters_tenant_id_meter_id_fkey FOREIGN KEY (tenant_id, meter_id) REFERENCES usage_streams (tenant_id, meter_id);
ALTER TABLE usage_events ADD CONSTRAINT usage_events_tenant_id_meter_id_fkey FOREIGN KEY (tenant_id, meter_id) REFERENCES usage_streams (tenant_id, meter_id);
ALTER TABLE usage_hours ADD CONSTRAINT usage_hours_tenant_id_meter_id_fkey FOREIGN KEY (tenant_id, meter_id) REFERENCES usage_streams (tenant_id, meter_id);
ALTER TABLE usage_keys ADD CONSTRAINT usage_keys_tenant_id_meter_id_fkey FOREIGN KEY (tenant_id, meter_id) REFERENCES usage_streams (tenant_id, meter_id);
ALTER TABLE usage_refusals ADD CONSTRAINT usage_refusals_tenant_id_meter_id_fkey FOREIGN KEY (tenant_id, meter_id) REFERENCES usage_streams (tenant_id, meter_id);
ALTER TABLE usage_streams ADD CONSTRAINT usage_streams_meter_id_fkey FOREIGN KEY (meter_id) REFERENCES meters (id);
ALTER TABLE usage_streams ADD CONSTRAINT usage_streams_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id);
ALTER TABLE waiting_items ADD CONSTRAINT waiting_items_operation_id_fkey FOREIGN KEY (operation_id, tenant_id) REFERENCES psp_operations (id, tenant_id);
ALTER TABLE waiting_items ADD CONSTRAINT waiting_items_subscription_id_fkey FOREIGN KEY (subscription_id, tenant_id) REFERENCES subscriptions (id, tenant_id);
ALTER TABLE waiting_items ADD CONSTRAINT waiting_items_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id);
COMMIT;
