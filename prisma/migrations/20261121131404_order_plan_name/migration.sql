-- A receipt says what was bought, whatever its plan is called later.
ALTER TABLE "purchase_order" ADD COLUMN     "plan_name" TEXT;
UPDATE purchase_order o SET plan_name = p.name FROM plan p WHERE p.id = o.plan_id;
ALTER TABLE "purchase_order" ALTER COLUMN   "plan_name" SET NOT NULL;
