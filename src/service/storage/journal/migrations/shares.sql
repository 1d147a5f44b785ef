-- With whom an execution is shared: whoever may see only some lists them in order, however many
-- others there are. A guest is the name of a principal, or * for everybody.
--
-- Triggers keep it true, also for a program that does not know it. There is no reference to
-- executions: that would need an index of its own, and cost every shared execution a page more.
CREATE TABLE shares (
  guest TEXT NOT NULL,
  execution INTEGER NOT NULL,
  PRIMARY KEY (guest, execution)
) STRICT, WITHOUT ROWID;

-- The names in a label are separated by commas. White space around them, as JavaScript trims it,
-- does not count.
CREATE VIEW label_guests AS
SELECT label, execution, trim(name.value, char(9, 10, 11, 12, 13, 32, 160, 5760, 8192, 8193, 8194,
  8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288, 65279)) AS guest
FROM labels, json_each(
  '[' || replace(json_quote(json_extract(label, '$[1]')), ',', '","') || ']') AS name
WHERE json_extract(label, '$[0]') IN ('share', 'share-control');

CREATE TRIGGER label_shares AFTER INSERT ON labels
WHEN new.label >= '["share' AND new.label < '["sharf'
BEGIN
  INSERT OR IGNORE INTO shares (guest, execution)
  SELECT guest, execution FROM label_guests
  WHERE label = new.label AND execution = new.execution AND guest <> '';
END;

CREATE TRIGGER label_no_longer_shares BEFORE DELETE ON labels
WHEN old.label >= '["share' AND old.label < '["sharf'
BEGIN
  DELETE FROM shares WHERE execution = old.execution AND guest IN (
    SELECT guest FROM label_guests WHERE label = old.label AND execution = old.execution);
END;

INSERT OR IGNORE INTO shares (guest, execution)
SELECT guest, execution FROM label_guests
WHERE label >= '["share' AND label < '["sharf' AND guest <> '';
