-- +goose Up
-- What endpoints outside were told of an invoice: nothing, that it was issued, or its end.
-- Of what is older only invoices that were issued here are known.
ALTER TABLE psp_invoices ADD COLUMN told text NOT NULL DEFAULT '';
UPDATE psp_invoices SET told = COALESCE(
    (SELECT CASE WHEN i.status IN ('paid', 'void') THEN i.status ELSE 'issued' END
     FROM invoices i WHERE i.psp_invoice_id = psp_invoices.psp_invoice_id),
    'before');
