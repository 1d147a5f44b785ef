-- Whoever may see only their own lists them as fast as everybody lists all, however many others
-- there are. The ordinal is in every index: within a principal they are in their order.
CREATE INDEX executions_by_principal ON executions (principal);
