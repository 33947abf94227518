-- +goose NO TRANSACTION
-- +goose Up
-- Keys and references of what a tenant has name the tenant, so that the tables can be spread by it
-- (ADR 30). SQLite is never spread and keeps what it has. tenant_id comes last, so that who looks
-- for the rest of a key alone uses the same index.
--
-- rolling: the keys that 0.1.0 names in ON CONFLICT stay beside the new ones, and a trigger gives
-- its documents their tenant. The version after this one drops both.
--
-- Others write meanwhile: indexes are built beside them, one short transaction puts them in the
-- place of the former ones, and then the references are checked. Each step can be repeated, so a
-- migration that was interrupted starts again from the first.
/* postgres: */
-- An index of which the building was interrupted is there, and of no use.
-- +goose StatementBegin
DO $$
DECLARE
    name text;
BEGIN
    FOR name IN SELECT c.relname FROM pg_index x JOIN pg_class c ON c.oid = x.indexrelid
        WHERE NOT x.indisvalid AND c.relnamespace = current_schema()::regnamespace AND c.relname ~ '(_before_key|_one_tenant_key|_new)$'
    LOOP
        EXECUTE format('DROP INDEX %I', name);
    END LOOP;
END $$;
-- +goose StatementEnd

-- What 0.1.0 names. They are built first: PostgreSQL looks at the indexes of a table in the order
-- in which they were made, and has to see a conflict here before it sees it in a key that the
-- statement does not name, which would be an error.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS checkouts_before_key ON checkouts (id);
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS former_psp_customers_before_key ON former_psp_customers (psp_customer_id);
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS invoice_documents_before_key ON invoice_documents (invoice_id);
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS psp_invoices_before_key ON psp_invoices (psp_invoice_id);
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS usage_refusals_before_key ON usage_refusals (id);
-- As long as one server has all rows, it holds that no customer of the provider is that of two tenants.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS psp_customers_one_tenant_key ON psp_customers (psp_customer_id);

CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS checkouts_pkey_new ON checkouts (id, tenant_id);
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS checkouts_psp_session_id_key_new ON checkouts (psp_session_id, tenant_id);
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS former_psp_customers_pkey_new ON former_psp_customers (psp_customer_id, tenant_id);
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS invoice_documents_pkey_new ON invoice_documents (invoice_id, tenant_id);
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS invoice_lines_id_key_new ON invoice_lines (id, tenant_id);
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS invoice_lines_pkey_new ON invoice_lines (invoice_id, position, tenant_id);
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS invoices_number_key_new ON invoices (number, tenant_id);
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS invoices_pkey_new ON invoices (id, tenant_id);
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS invoices_psp_invoice_id_key_new ON invoices (psp_invoice_id, tenant_id);
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS invoices_year_sequence_key_new ON invoices (year, sequence, tenant_id);
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS payment_entries_pkey_new ON payment_entries (id, tenant_id);
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS psp_customers_psp_customer_id_key_new ON psp_customers (psp_customer_id, tenant_id);
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS psp_invoices_pkey_new ON psp_invoices (psp_invoice_id, tenant_id);
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS psp_operations_pending_key_new ON psp_operations (subscription_id, tenant_id) WHERE state = 'pending';
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS psp_operations_pkey_new ON psp_operations (id, tenant_id);
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS subscriptions_pkey_new ON subscriptions (id, tenant_id);
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS subscriptions_psp_subscription_id_key_new ON subscriptions (psp_subscription_id, tenant_id);
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS usage_alerts_pkey_new ON usage_alerts (id, tenant_id);
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS usage_records_idempotency_key_new ON usage_records (stream, idempotency_key, tenant_id) WHERE idempotency_key IS NOT NULL;
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS usage_records_pkey_new ON usage_records (stream, recorded_at, id, tenant_id);
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS usage_refusals_pkey_new ON usage_refusals (id, tenant_id);
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS usage_streams_number_key_new ON usage_streams (number, tenant_id);

-- Documents of 0.1.0 come without their tenant.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION invoice_documents_tenant() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.tenant_id := (SELECT i.tenant_id FROM invoices i WHERE i.id = NEW.invoice_id);
    RETURN NEW;
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
DO $$
BEGIN
    DROP TRIGGER IF EXISTS invoice_documents_tenant ON invoice_documents;
    CREATE TRIGGER invoice_documents_tenant BEFORE INSERT ON invoice_documents
        FOR EACH ROW WHEN (NEW.tenant_id IS NULL) EXECUTE FUNCTION invoice_documents_tenant();
    ALTER TABLE invoice_documents DROP CONSTRAINT IF EXISTS invoice_documents_tenant_check;
    ALTER TABLE invoice_documents ADD CONSTRAINT invoice_documents_tenant_check CHECK (tenant_id IS NOT NULL) NOT VALID;
END $$;
-- +goose StatementEnd
UPDATE invoice_documents SET tenant_id = (SELECT i.tenant_id FROM invoices i WHERE i.id = invoice_documents.invoice_id)
WHERE tenant_id IS NULL;
ALTER TABLE invoice_documents VALIDATE CONSTRAINT invoice_documents_tenant_check;

-- It asks for all tables at once, for a moment each time, until nobody is in the middle of
-- something with one of them: who waits behind it for longer would be everybody.
-- +goose StatementBegin
DO $$
DECLARE
    asked integer := 0;
BEGIN
    LOOP
        BEGIN
            PERFORM set_config('lock_timeout', '300ms', true);
            LOCK TABLE checkouts, former_psp_customers, invoice_documents, invoice_lines, invoices,
                payment_entries, psp_customers, psp_invoices, psp_operations, subscriptions, trials,
                usage_alerts, usage_records, usage_refusals, usage_streams, waiting_items
                IN ACCESS EXCLUSIVE MODE;
            EXIT;
        EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
            asked := asked + 1;
            IF asked = 900 THEN
                RAISE;
            END IF;
        END;
        PERFORM pg_sleep(1);
    END LOOP;

    ALTER TABLE checkouts DROP CONSTRAINT IF EXISTS checkouts_replaces_subscription_id_fkey;
    ALTER TABLE invoice_documents DROP CONSTRAINT IF EXISTS invoice_documents_invoice_id_fkey;
    ALTER TABLE invoice_lines DROP CONSTRAINT IF EXISTS invoice_lines_invoice_id_fkey;
    ALTER TABLE invoices DROP CONSTRAINT IF EXISTS invoices_subscription_id_fkey;
    ALTER TABLE psp_operations DROP CONSTRAINT IF EXISTS psp_operations_subscription_id_fkey;
    ALTER TABLE trials DROP CONSTRAINT IF EXISTS trials_subscription_id_fkey;
    ALTER TABLE waiting_items DROP CONSTRAINT IF EXISTS waiting_items_operation_id_fkey;
    ALTER TABLE waiting_items DROP CONSTRAINT IF EXISTS waiting_items_subscription_id_fkey;
    ALTER TABLE invoice_documents ALTER COLUMN tenant_id SET NOT NULL, DROP CONSTRAINT invoice_documents_tenant_check;
    ALTER TABLE checkouts DROP CONSTRAINT checkouts_pkey, ADD CONSTRAINT checkouts_pkey PRIMARY KEY USING INDEX checkouts_pkey_new;
    DROP INDEX checkouts_psp_session_id_key;
    ALTER INDEX checkouts_psp_session_id_key_new RENAME TO checkouts_psp_session_id_key;
    ALTER TABLE former_psp_customers DROP CONSTRAINT former_psp_customers_pkey, ADD CONSTRAINT former_psp_customers_pkey PRIMARY KEY USING INDEX former_psp_customers_pkey_new;
    ALTER TABLE invoice_documents DROP CONSTRAINT invoice_documents_pkey, ADD CONSTRAINT invoice_documents_pkey PRIMARY KEY USING INDEX invoice_documents_pkey_new;
    DROP INDEX invoice_lines_id_key;
    ALTER INDEX invoice_lines_id_key_new RENAME TO invoice_lines_id_key;
    ALTER TABLE invoice_lines DROP CONSTRAINT invoice_lines_pkey, ADD CONSTRAINT invoice_lines_pkey PRIMARY KEY USING INDEX invoice_lines_pkey_new;
    DROP INDEX invoices_number_key;
    ALTER INDEX invoices_number_key_new RENAME TO invoices_number_key;
    ALTER TABLE invoices DROP CONSTRAINT invoices_pkey, ADD CONSTRAINT invoices_pkey PRIMARY KEY USING INDEX invoices_pkey_new;
    DROP INDEX invoices_psp_invoice_id_key;
    ALTER INDEX invoices_psp_invoice_id_key_new RENAME TO invoices_psp_invoice_id_key;
    DROP INDEX invoices_year_sequence_key;
    ALTER INDEX invoices_year_sequence_key_new RENAME TO invoices_year_sequence_key;
    ALTER TABLE payment_entries DROP CONSTRAINT payment_entries_pkey, ADD CONSTRAINT payment_entries_pkey PRIMARY KEY USING INDEX payment_entries_pkey_new;
    DROP INDEX psp_customers_psp_customer_id_key;
    ALTER INDEX psp_customers_psp_customer_id_key_new RENAME TO psp_customers_psp_customer_id_key;
    ALTER TABLE psp_invoices DROP CONSTRAINT psp_invoices_pkey, ADD CONSTRAINT psp_invoices_pkey PRIMARY KEY USING INDEX psp_invoices_pkey_new;
    DROP INDEX psp_operations_pending_key;
    ALTER INDEX psp_operations_pending_key_new RENAME TO psp_operations_pending_key;
    ALTER TABLE psp_operations DROP CONSTRAINT psp_operations_pkey, ADD CONSTRAINT psp_operations_pkey PRIMARY KEY USING INDEX psp_operations_pkey_new;
    ALTER TABLE subscriptions DROP CONSTRAINT subscriptions_pkey, ADD CONSTRAINT subscriptions_pkey PRIMARY KEY USING INDEX subscriptions_pkey_new;
    DROP INDEX subscriptions_psp_subscription_id_key;
    ALTER INDEX subscriptions_psp_subscription_id_key_new RENAME TO subscriptions_psp_subscription_id_key;
    ALTER TABLE usage_alerts DROP CONSTRAINT usage_alerts_pkey, ADD CONSTRAINT usage_alerts_pkey PRIMARY KEY USING INDEX usage_alerts_pkey_new;
    DROP INDEX usage_records_idempotency_key;
    ALTER INDEX usage_records_idempotency_key_new RENAME TO usage_records_idempotency_key;
    ALTER TABLE usage_records DROP CONSTRAINT usage_records_pkey, ADD CONSTRAINT usage_records_pkey PRIMARY KEY USING INDEX usage_records_pkey_new;
    ALTER TABLE usage_refusals DROP CONSTRAINT usage_refusals_pkey, ADD CONSTRAINT usage_refusals_pkey PRIMARY KEY USING INDEX usage_refusals_pkey_new;
    DROP INDEX usage_streams_number_key;
    ALTER INDEX usage_streams_number_key_new RENAME TO usage_streams_number_key;
    ALTER TABLE checkouts ADD CONSTRAINT checkouts_replaces_subscription_id_fkey FOREIGN KEY (replaces_subscription_id, tenant_id)
        REFERENCES subscriptions (id, tenant_id) NOT VALID;
    ALTER TABLE invoice_documents ADD CONSTRAINT invoice_documents_invoice_id_fkey FOREIGN KEY (invoice_id, tenant_id)
        REFERENCES invoices (id, tenant_id) NOT VALID;
    ALTER TABLE invoice_lines ADD CONSTRAINT invoice_lines_invoice_id_fkey FOREIGN KEY (invoice_id, tenant_id)
        REFERENCES invoices (id, tenant_id) NOT VALID;
    ALTER TABLE invoices ADD CONSTRAINT invoices_subscription_id_fkey FOREIGN KEY (subscription_id, tenant_id)
        REFERENCES subscriptions (id, tenant_id) NOT VALID;
    ALTER TABLE psp_operations ADD CONSTRAINT psp_operations_subscription_id_fkey FOREIGN KEY (subscription_id, tenant_id)
        REFERENCES subscriptions (id, tenant_id) NOT VALID;
    ALTER TABLE trials ADD CONSTRAINT trials_subscription_id_fkey FOREIGN KEY (subscription_id, tenant_id)
        REFERENCES subscriptions (id, tenant_id) NOT VALID;
    ALTER TABLE waiting_items ADD CONSTRAINT waiting_items_operation_id_fkey FOREIGN KEY (operation_id, tenant_id)
        REFERENCES psp_operations (id, tenant_id) NOT VALID;
    ALTER TABLE waiting_items ADD CONSTRAINT waiting_items_subscription_id_fkey FOREIGN KEY (subscription_id, tenant_id)
        REFERENCES subscriptions (id, tenant_id) NOT VALID;
END $$;
-- +goose StatementEnd

ALTER TABLE checkouts VALIDATE CONSTRAINT checkouts_replaces_subscription_id_fkey;
ALTER TABLE invoice_documents VALIDATE CONSTRAINT invoice_documents_invoice_id_fkey;
ALTER TABLE invoice_lines VALIDATE CONSTRAINT invoice_lines_invoice_id_fkey;
ALTER TABLE invoices VALIDATE CONSTRAINT invoices_subscription_id_fkey;
ALTER TABLE psp_operations VALIDATE CONSTRAINT psp_operations_subscription_id_fkey;
ALTER TABLE trials VALIDATE CONSTRAINT trials_subscription_id_fkey;
ALTER TABLE waiting_items VALIDATE CONSTRAINT waiting_items_operation_id_fkey;
ALTER TABLE waiting_items VALIDATE CONSTRAINT waiting_items_subscription_id_fkey /* sqlite: SELECT 1 */;
