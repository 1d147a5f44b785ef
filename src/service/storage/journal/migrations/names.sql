-- Executions by their names, for each of those who may see them: the latest of a name is found at
-- once, however many there have been, and what somebody may not see costs no time. A guest is the
-- name of a principal, or * for everybody; the owner's own row has the guest ''. The label is the
-- one that names the execution, as `labels` has it.
--
-- Triggers keep it true, also for a program that does not know it.
CREATE TABLE names (
  guest TEXT NOT NULL,
  label TEXT NOT NULL,
  owner TEXT NOT NULL,
  execution INTEGER NOT NULL,
  PRIMARY KEY (guest, label, owner, execution)
) STRICT, WITHOUT ROWID;

CREATE VIEW label_names AS
SELECT label, principal AS owner, execution
FROM labels JOIN executions ON ordinal = execution
WHERE label >= '["name",' AND label < '["name"-' AND label <> '["name",""]';

-- The labels of an execution come one after the other, in any order.
CREATE TRIGGER label_is_name AFTER INSERT ON labels
WHEN new.label >= '["name",' AND new.label < '["name"-'
BEGIN
  INSERT OR IGNORE INTO names (guest, label, owner, execution)
  SELECT '', label, owner, execution FROM label_names WHERE execution = new.execution
  UNION
  SELECT guest, label_names.label, owner, execution
  FROM label_names JOIN label_guests USING (execution)
  WHERE execution = new.execution AND guest <> '';
END;

CREATE TRIGGER label_shares_name AFTER INSERT ON labels
WHEN new.label >= '["share' AND new.label < '["sharf'
BEGIN
  INSERT OR IGNORE INTO names (guest, label, owner, execution)
  SELECT guest, label_names.label, owner, execution
  FROM label_names JOIN label_guests USING (execution)
  WHERE execution = new.execution AND guest <> '';
END;

-- Before: afterwards its labels are gone as well.
CREATE TRIGGER execution_no_longer_named BEFORE DELETE ON executions
BEGIN
  DELETE FROM names
  WHERE execution = old.ordinal AND owner = old.principal
    AND label IN (SELECT label FROM label_names WHERE execution = old.ordinal)
    AND guest IN (SELECT '' UNION SELECT guest FROM label_guests WHERE execution = old.ordinal);
END;

INSERT OR IGNORE INTO names (guest, label, owner, execution)
SELECT '', label, owner, execution FROM label_names
UNION
SELECT guest, label_names.label, owner, execution
FROM label_names JOIN label_guests USING (execution)
WHERE guest <> '';
