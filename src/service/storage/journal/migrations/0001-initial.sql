-- What changes with every event is small and stands alone: SQLite rewrites a whole row, with its
-- overflow pages, when one column changes, and a command line may be a megabyte.
CREATE TABLE executions (
  -- AUTOINCREMENT: an ordinal is a list cursor in clients' hands, so it is never given out again.
  ordinal INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  principal TEXT NOT NULL,
  state TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  ended_at_ms INTEGER,
  has_transcript INTEGER NOT NULL DEFAULT 1,
  transcript_bytes INTEGER NOT NULL,
  record TEXT NOT NULL, -- JSON of the record without its spec
  CHECK ((state = 'ended') = (ended_at_ms IS NOT NULL))
) STRICT;

-- The live ones, in order of their ordinals: few, however many executions there have been. There is
-- no index by state, because every other execution is `ended`.
CREATE INDEX unfinished_executions ON executions (ended_at_ms) WHERE ended_at_ms IS NULL;

CREATE INDEX executions_with_transcript ON executions (ended_at_ms, id, transcript_bytes)
  WHERE ended_at_ms IS NOT NULL AND has_transcript = 1;

CREATE INDEX executions_without_transcript ON executions (ended_at_ms)
  WHERE ended_at_ms IS NOT NULL AND has_transcript = 0;

CREATE TABLE specs (
  execution INTEGER PRIMARY KEY REFERENCES executions ON DELETE CASCADE,
  spec TEXT NOT NULL
) STRICT;

-- A table, not json_extract: any label may be asked for, and an expression index serves only names
-- known beforehand. A label is the JSON of [name, value], one exact string for any two strings.
CREATE TABLE labels (
  label TEXT NOT NULL,
  execution INTEGER NOT NULL REFERENCES executions ON DELETE CASCADE,
  PRIMARY KEY (label, execution)
) STRICT, WITHOUT ROWID;

CREATE INDEX labels_by_execution ON labels (execution);

-- Clustered by ordinal, so that new events are written at the end of the tree, side by side.
CREATE TABLE events (
  execution INTEGER NOT NULL REFERENCES executions ON DELETE CASCADE,
  number INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  event TEXT NOT NULL,
  PRIMARY KEY (execution, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE receipts (
  execution INTEGER PRIMARY KEY REFERENCES executions ON DELETE CASCADE,
  envelope TEXT NOT NULL -- the bytes as they were signed, never written anew
) STRICT;

-- No reference to executions: a key outlives its execution, so that a late repeat starts nothing.
CREATE TABLE idempotency (
  principal TEXT NOT NULL,
  key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  execution_id TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  PRIMARY KEY (principal, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_by_time ON idempotency (created_at_ms);
