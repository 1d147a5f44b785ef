-- What is to be told to whom: written with the event itself, in its transaction.
CREATE TABLE deliveries (
  ordinal INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  target TEXT NOT NULL,
  about TEXT NOT NULL, -- the execution or trial, within which the order is kept; it may be gone
  principal TEXT NOT NULL, -- whose that is
  kind TEXT NOT NULL,
  subject TEXT NOT NULL, -- what tells it from others of its kind: a question's id, say
  facts TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at_ms INTEGER, -- null once it is settled
  settled_at_ms INTEGER,
  outcome TEXT, -- null while it is pending
  CHECK ((next_at_ms IS NULL) = (settled_at_ms IS NOT NULL)),
  CHECK ((next_at_ms IS NULL) = (outcome IS NOT NULL))
) STRICT;

-- Nothing is told twice to the same target, however often it is written. It also finds what else
-- there is about the same.
CREATE UNIQUE INDEX deliveries_once ON deliveries (about, kind, subject, target);

CREATE INDEX deliveries_pending ON deliveries (target, ordinal) WHERE next_at_ms IS NOT NULL;

CREATE INDEX deliveries_settled ON deliveries (settled_at_ms) WHERE settled_at_ms IS NOT NULL;

CREATE TABLE delivery_attempts (
  delivery INTEGER NOT NULL REFERENCES deliveries ON DELETE CASCADE,
  number INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  took_ms INTEGER NOT NULL,
  result TEXT NOT NULL,
  status INTEGER, -- of HTTP, or the exit code of a command; null where there was no answer
  why TEXT,
  PRIMARY KEY (delivery, number)
) STRICT, WITHOUT ROWID;
