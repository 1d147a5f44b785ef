CREATE TABLE trials (
  ordinal INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  principal TEXT NOT NULL,
  path TEXT NOT NULL, -- of the work's file
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  chain TEXT NOT NULL, -- digest of the first announcement
  sequence INTEGER NOT NULL,
  digest TEXT NOT NULL, -- of this announcement
  lease_ms INTEGER NOT NULL,
  runner TEXT, -- the execution that runs it, where that is one
  announcement TEXT NOT NULL, -- the canonical JSON that the digest is of
  key TEXT,
  fingerprint TEXT,
  verdict TEXT, -- null while it is open
  envelope TEXT, -- as it was signed, never written anew
  CHECK ((verdict IS NULL) = (envelope IS NULL)),
  CHECK ((key IS NULL) = (fingerprint IS NULL))
) STRICT;

-- Nobody gets two trials with the same number.
CREATE UNIQUE INDEX trials_by_chain ON trials (chain, principal, sequence);

CREATE INDEX trials_by_path ON trials (path, principal);

CREATE UNIQUE INDEX trials_by_key ON trials (principal, key) WHERE key IS NOT NULL;

CREATE INDEX open_trials ON trials (ordinal) WHERE verdict IS NULL;

-- No reference to executions: a verdict outlives them.
CREATE TABLE trial_steps (
  trial TEXT NOT NULL REFERENCES trials (id),
  step TEXT NOT NULL,
  execution_id TEXT, -- null while it waits
  marker TEXT,
  PRIMARY KEY (trial, step)
) STRICT, WITHOUT ROWID;

CREATE INDEX trial_steps_by_execution ON trial_steps (execution_id);
