-- +goose Up
-- Whose document it is. Null for one that an instance of the version before has stored since,
-- until a job fills it. The version after this one requires it.
ALTER TABLE invoice_documents ADD COLUMN tenant_id uuid;
UPDATE invoice_documents SET tenant_id = (SELECT i.tenant_id FROM invoices i WHERE i.id = invoice_documents.invoice_id);
-- Whoever asks whether there is a document reads this index, and not the document.
CREATE UNIQUE INDEX invoice_documents_tenant_key ON invoice_documents (tenant_id, invoice_id);
