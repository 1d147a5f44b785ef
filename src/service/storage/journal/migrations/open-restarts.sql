-- Sessions that ended with the service and have not gone on: a few, however many have ended. They
-- are found again after a crash in the middle of a restart.
CREATE INDEX open_restarts ON executions (ended_at_ms)
  WHERE ended_at_ms IS NOT NULL AND json_extract(record, '$.restart.kind') <> 'restarted';
