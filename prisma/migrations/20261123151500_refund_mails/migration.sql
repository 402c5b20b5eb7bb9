-- A customer is told of a refund, once for each: `transfer_id` of such a mail is the refund.
ALTER TABLE order_mail DROP CONSTRAINT order_mail_kind;
ALTER TABLE order_mail ADD CONSTRAINT order_mail_kind CHECK (kind IN ('made', 'paid', 'matched', 'refunded'));
