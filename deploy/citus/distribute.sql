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
ALTER TABLE checkouts DROP CONSTRAINT checkouts_discount_id_fkey;
ALTER TABLE checkouts DROP CONSTRAINT checkouts_plan_id_fkey;
ALTER TABLE checkouts DROP CONSTRAINT checkouts_replaces_subscription_id_fkey;
ALTER TABLE checkouts DROP CONSTRAINT checkouts_tenant_id_fkey;
ALTER TABLE credit_entries DROP CONSTRAINT credit_entries_currency_fkey;
ALTER TABLE credit_entries DROP CONSTRAINT credit_entries_tenant_id_fkey;
ALTER TABLE credit_note_documents DROP CONSTRAINT credit_note_documents_credit_note_id_fkey;
ALTER TABLE credit_note_lines DROP CONSTRAINT credit_note_lines_credit_note_id_fkey;
ALTER TABLE credit_notes DROP CONSTRAINT credit_notes_tenant_id_fkey;
ALTER TABLE discount_redemptions DROP CONSTRAINT discount_redemptions_discount_id_fkey;
ALTER TABLE discount_redemptions DROP CONSTRAINT discount_redemptions_tenant_id_fkey;
ALTER TABLE entitlement_digests DROP CONSTRAINT entitlement_digests_tenant_id_fkey;
ALTER TABLE former_psp_customers DROP CONSTRAINT former_psp_customers_tenant_id_fkey;
ALTER TABLE invoice_documents DROP CONSTRAINT invoice_documents_invoice_id_fkey;
ALTER TABLE invoice_lines DROP CONSTRAINT invoice_lines_invoice_id_fkey;
ALTER TABLE invoice_lines DROP CONSTRAINT invoice_lines_meter_id_fkey;
ALTER TABLE invoice_lines DROP CONSTRAINT invoice_lines_plan_id_fkey;
ALTER TABLE invoice_lines DROP CONSTRAINT invoice_lines_tenant_id_fkey;
ALTER TABLE invoices DROP CONSTRAINT invoices_subscription_id_fkey;
ALTER TABLE invoices DROP CONSTRAINT invoices_tenant_id_fkey;
ALTER TABLE limit_overrides DROP CONSTRAINT limit_overrides_feature_id_fkey;
ALTER TABLE limit_overrides DROP CONSTRAINT limit_overrides_tenant_id_fkey;
ALTER TABLE pack_purchases DROP CONSTRAINT pack_purchases_currency_fkey;
ALTER TABLE pack_purchases DROP CONSTRAINT pack_purchases_pack_id_fkey;
ALTER TABLE pack_purchases DROP CONSTRAINT pack_purchases_tenant_id_fkey;
ALTER TABLE payment_entries DROP CONSTRAINT payment_entries_tenant_id_fkey;
ALTER TABLE psp_customers DROP CONSTRAINT psp_customers_tenant_id_fkey;
ALTER TABLE psp_invoice_lines DROP CONSTRAINT psp_invoice_lines_tenant_id_fkey;
ALTER TABLE psp_invoices DROP CONSTRAINT psp_invoices_tenant_id_fkey;
ALTER TABLE psp_operations DROP CONSTRAINT psp_operations_subscription_id_fkey;
ALTER TABLE psp_operations DROP CONSTRAINT psp_operations_tenant_id_fkey;
ALTER TABLE quota_refusals DROP CONSTRAINT quota_refusals_tenant_id_meter_id_fkey;
ALTER TABLE subscriptions DROP CONSTRAINT subscriptions_currency_fkey;
ALTER TABLE subscriptions DROP CONSTRAINT subscriptions_discount_id_fkey;
ALTER TABLE subscriptions DROP CONSTRAINT subscriptions_pending_plan_id_fkey;
ALTER TABLE subscriptions DROP CONSTRAINT subscriptions_plan_id_fkey;
ALTER TABLE subscriptions DROP CONSTRAINT subscriptions_tenant_id_fkey;
ALTER TABLE trials DROP CONSTRAINT trials_product_id_fkey;
ALTER TABLE trials DROP CONSTRAINT trials_subscription_id_fkey;
ALTER TABLE trials DROP CONSTRAINT trials_tenant_id_fkey;
ALTER TABLE usage_alerts DROP CONSTRAINT usage_alerts_tenant_id_meter_id_fkey;
ALTER TABLE usage_counters DROP CONSTRAINT usage_counters_tenant_id_meter_id_fkey;
ALTER TABLE usage_days DROP CONSTRAINT usage_days_tenant_id_fkey;
ALTER TABLE usage_grants DROP CONSTRAINT usage_grants_tenant_id_meter_id_fkey;
ALTER TABLE usage_hours DROP CONSTRAINT usage_hours_tenant_id_meter_id_fkey;
ALTER TABLE usage_keys DROP CONSTRAINT usage_keys_tenant_id_meter_id_fkey;
ALTER TABLE usage_refusals DROP CONSTRAINT usage_refusals_tenant_id_meter_id_fkey;
ALTER TABLE usage_reservations DROP CONSTRAINT usage_reservations_tenant_id_meter_id_fkey;
ALTER TABLE usage_streams DROP CONSTRAINT usage_streams_meter_id_fkey;
ALTER TABLE usage_streams DROP CONSTRAINT usage_streams_tenant_id_fkey;
ALTER TABLE waiting_items DROP CONSTRAINT waiting_items_operation_id_fkey;
ALTER TABLE waiting_items DROP CONSTRAINT waiting_items_subscription_id_fkey;
ALTER TABLE waiting_items DROP CONSTRAINT waiting_items_tenant_id_fkey;

-- Keys without the tenant, which only a single server can enforce.
DROP INDEX psp_customers_one_tenant_key;

-- Reference tables are whole on every machine.
SELECT create_reference_table('currencies');
SELECT create_reference_table('discounts');
SELECT create_reference_table('features');
SELECT create_reference_table('meters');
SELECT create_reference_table('meter_links');
SELECT create_reference_table('meter_prices');
SELECT create_reference_table('meter_sales');
SELECT create_reference_table('packs');
SELECT create_reference_table('pack_prices');
SELECT create_reference_table('products');
SELECT create_reference_table('plans');
SELECT create_reference_table('entitlements');
SELECT create_reference_table('plan_prices');
SELECT create_reference_table('tenants');

-- Distributed tables are cut by tenant, all at the same places.
SELECT create_distributed_table('change_previews', 'tenant_id');
SELECT create_distributed_table('credit_entries', 'tenant_id');
SELECT create_distributed_table('credit_notes', 'tenant_id');
SELECT create_distributed_table('credit_note_documents', 'tenant_id');
SELECT create_distributed_table('credit_note_lines', 'tenant_id');
SELECT create_distributed_table('discount_redemptions', 'tenant_id');
SELECT create_distributed_table('entitlement_digests', 'tenant_id');
SELECT create_distributed_table('former_psp_customers', 'tenant_id');
SELECT create_distributed_table('limit_overrides', 'tenant_id');
SELECT create_distributed_table('pack_purchases', 'tenant_id');
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
SELECT create_distributed_table('usage_days', 'tenant_id');
SELECT create_distributed_table('usage_events', 'tenant_id');
SELECT create_distributed_table('usage_streams', 'tenant_id');
SELECT create_distributed_table('quota_refusals', 'tenant_id');
SELECT create_distributed_table('usage_alerts', 'tenant_id');
SELECT create_distributed_table('usage_counters', 'tenant_id');
SELECT create_distributed_table('usage_grants', 'tenant_id');
SELECT create_distributed_table('usage_hours', 'tenant_id');
SELECT create_distributed_table('usage_keys', 'tenant_id');
SELECT create_distributed_table('usage_refusals', 'tenant_id');
SELECT create_distributed_table('usage_reservations', 'tenant_id');
SELECT create_distributed_table('waiting_items', 'tenant_id');

-- The references as they were.
ALTER TABLE change_previews ADD CONSTRAINT change_previews_plan_id_fkey FOREIGN KEY (plan_id) REFERENCES plans (id);
ALTER TABLE change_previews ADD CONSTRAINT change_previews_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id);
ALTER TABLE checkouts ADD CONSTRAINT checkouts_currency_fkey FOREIGN KEY (currency) REFERENCES currencies (code);
ALTER TABLE checkouts ADD CONSTRAINT checkouts_discount_id_fkey FOREIGN KEY (discount_id) REFERENCES discounts (id);
ALTER TABLE checkouts ADD CONSTRAINT checkouts_plan_id_fkey FOREIGN KEY (plan_id) REFERENCES plans (id);
ALTER TABLE checkouts ADD CONSTRAINT checkouts_replaces_subscription_id_fkey FOREIGN KEY (replaces_subscription_id, tenant_id) REFERENCES subscriptions (id, tenant_id);
ALTER TABLE checkouts ADD CONSTRAINT checkouts_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id);
ALTER TABLE credit_entries ADD CONSTRAINT credit_entries_currency_fkey FOREIGN KEY (currency) REFERENCES currencies (code);
ALTER TABLE credit_entries ADD CONSTRAINT credit_entries_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id);
ALTER TABLE credit_note_documents ADD CONSTRAINT credit_note_documents_credit_note_id_fkey FOREIGN KEY (tenant_id, credit_note_id) REFERENCES credit_notes (tenant_id, id);
ALTER TABLE credit_note_lines ADD CONSTRAINT credit_note_lines_credit_note_id_fkey FOREIGN KEY (tenant_id, credit_note_id) REFERENCES credit_notes (tenant_id, id) ON DELETE CASCADE;
ALTER TABLE credit_notes ADD CONSTRAINT credit_notes_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id);
ALTER TABLE discount_redemptions ADD CONSTRAINT discount_redemptions_discount_id_fkey FOREIGN KEY (discount_id) REFERENCES discounts (id);
ALTER TABLE discount_redemptions ADD CONSTRAINT discount_redemptions_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id);
ALTER TABLE entitlement_digests ADD CONSTRAINT entitlement_digests_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE;
ALTER TABLE former_psp_customers ADD CONSTRAINT former_psp_customers_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id);
ALTER TABLE invoice_documents ADD CONSTRAINT invoice_documents_invoice_id_fkey FOREIGN KEY (invoice_id, tenant_id) REFERENCES invoices (id, tenant_id);
ALTER TABLE invoice_lines ADD CONSTRAINT invoice_lines_invoice_id_fkey FOREIGN KEY (invoice_id, tenant_id) REFERENCES invoices (id, tenant_id);
ALTER TABLE invoice_lines ADD CONSTRAINT invoice_lines_meter_id_fkey FOREIGN KEY (meter_id) REFERENCES meters (id);
ALTER TABLE invoice_lines ADD CONSTRAINT invoice_lines_plan_id_fkey FOREIGN KEY (plan_id) REFERENCES plans (id);
ALTER TABLE invoice_lines ADD CONSTRAINT invoice_lines_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id);
ALTER TABLE invoices ADD CONSTRAINT invoices_subscription_id_fkey FOREIGN KEY (subscription_id, tenant_id) REFERENCES subscriptions (id, tenant_id);
ALTER TABLE invoices ADD CONSTRAINT invoices_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id);
ALTER TABLE limit_overrides ADD CONSTRAINT limit_overrides_feature_id_fkey FOREIGN KEY (feature_id) REFERENCES features (id);
ALTER TABLE limit_overrides ADD CONSTRAINT limit_overrides_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE;
ALTER TABLE pack_purchases ADD CONSTRAINT pack_purchases_currency_fkey FOREIGN KEY (currency) REFERENCES currencies (code);
ALTER TABLE pack_purchases ADD CONSTRAINT pack_purchases_pack_id_fkey FOREIGN KEY (pack_id) REFERENCES packs (id);
ALTER TABLE pack_purchases ADD CONSTRAINT pack_purchases_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id);
ALTER TABLE payment_entries ADD CONSTRAINT payment_entries_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id);
ALTER TABLE psp_customers ADD CONSTRAINT psp_customers_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id);
ALTER TABLE psp_invoice_lines ADD CONSTRAINT psp_invoice_lines_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id);
ALTER TABLE psp_invoices ADD CONSTRAINT psp_invoices_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id);
ALTER TABLE psp_operations ADD CONSTRAINT psp_operations_subscription_id_fkey FOREIGN KEY (subscription_id, tenant_id) REFERENCES subscriptions (id, tenant_id);
ALTER TABLE psp_operations ADD CONSTRAINT psp_operations_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id);
ALTER TABLE quota_refusals ADD CONSTRAINT quota_refusals_tenant_id_meter_id_fkey FOREIGN KEY (tenant_id, meter_id) REFERENCES usage_streams (tenant_id, meter_id);
ALTER TABLE subscriptions ADD CONSTRAINT subscriptions_currency_fkey FOREIGN KEY (currency) REFERENCES currencies (code);
ALTER TABLE subscriptions ADD CONSTRAINT subscriptions_discount_id_fkey FOREIGN KEY (discount_id) REFERENCES discounts (id);
ALTER TABLE subscriptions ADD CONSTRAINT subscriptions_pending_plan_id_fkey FOREIGN KEY (pending_plan_id) REFERENCES plans (id);
ALTER TABLE subscriptions ADD CONSTRAINT subscriptions_plan_id_fkey FOREIGN KEY (plan_id) REFERENCES plans (id);
ALTER TABLE subscriptions ADD CONSTRAINT subscriptions_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id);
ALTER TABLE trials ADD CONSTRAINT trials_product_id_fkey FOREIGN KEY (product_id) REFERENCES products (id);
ALTER TABLE trials ADD CONSTRAINT trials_subscription_id_fkey FOREIGN KEY (subscription_id, tenant_id) REFERENCES subscriptions (id, tenant_id);
ALTER TABLE trials ADD CONSTRAINT trials_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id);
ALTER TABLE usage_alerts ADD CONSTRAINT usage_alerts_tenant_id_meter_id_fkey FOREIGN KEY (tenant_id, meter_id) REFERENCES usage_streams (tenant_id, meter_id);
ALTER TABLE usage_counters ADD CONSTRAINT usage_counters_tenant_id_meter_id_fkey FOREIGN KEY (tenant_id, meter_id) REFERENCES usage_streams (tenant_id, meter_id);
ALTER TABLE usage_days ADD CONSTRAINT usage_days_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE;
ALTER TABLE usage_grants ADD CONSTRAINT usage_grants_tenant_id_meter_id_fkey FOREIGN KEY (tenant_id, meter_id) REFERENCES usage_streams (tenant_id, meter_id);
ALTER TABLE usage_hours ADD CONSTRAINT usage_hours_tenant_id_meter_id_fkey FOREIGN KEY (tenant_id, meter_id) REFERENCES usage_streams (tenant_id, meter_id);
ALTER TABLE usage_keys ADD CONSTRAINT usage_keys_tenant_id_meter_id_fkey FOREIGN KEY (tenant_id, meter_id) REFERENCES usage_streams (tenant_id, meter_id);
ALTER TABLE usage_refusals ADD CONSTRAINT usage_refusals_tenant_id_meter_id_fkey FOREIGN KEY (tenant_id, meter_id) REFERENCES usage_streams (tenant_id, meter_id);
ALTER TABLE usage_reservations ADD CONSTRAINT usage_reservations_tenant_id_meter_id_fkey FOREIGN KEY (tenant_id, meter_id) REFERENCES usage_streams (tenant_id, meter_id);
ALTER TABLE usage_streams ADD CONSTRAINT usage_streams_meter_id_fkey FOREIGN KEY (meter_id) REFERENCES meters (id);
ALTER TABLE usage_streams ADD CONSTRAINT usage_streams_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id);
ALTER TABLE waiting_items ADD CONSTRAINT waiting_items_operation_id_fkey FOREIGN KEY (operation_id, tenant_id) REFERENCES psp_operations (id, tenant_id);
ALTER TABLE waiting_items ADD CONSTRAINT waiting_items_subscription_id_fkey FOREIGN KEY (subscription_id, tenant_id) REFERENCES subscriptions (id, tenant_id);
ALTER TABLE waiting_items ADD CONSTRAINT waiting_items_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id);
COMMIT;
