import { join } from "node:path"

export type StatePaths = ReturnType<typeof statePathsIn>

/** Everything a state directory holds; docs/architecture.md says what each of them is. */
export function statePathsIn(directory: string) {
  const at = (name: string) => join(directory, name)
  return {
    directory,
    lock: at("lock"),
    schema: at("schema.json"),
    journal: at("journal.sqlite"),
    transcripts: at("transcripts"),
    receiptKey: at("receipt-key.pem"),
    audit: at("audit"),
    trees: at("trees.json"),
    socket: at("gateway.sock"),
    tokens: at("tokens.json"),
    tokensLock: at("tokens.lock"),
    madeToken: at("made-token"),
    ballast: at("ballast"),
    upgradeRequest: at("upgrade-request.json"),
    upgradeReport: at("upgrade-report.json"),
    upgradeLock: at("upgrade.lock"),
    log: at("service.log"),
    startLock: at("start.lock"),
    fleetIndex: at("fleet-index.sqlite"),
  }
}

export type StateEntries = { files: string[]; directories: string[]; sockets: string[] }

/** The same by kind, with what is written beside some of them: drafts, and what SQLite adds. */
export function stateEntriesOf(paths: StatePaths): StateEntries {
  const { directory: _, transcripts, audit, socket, journal, fleetIndex, ...rest } = paths
  const files = Object.values(rest)
  return {
    files: [
      ...files,
      ...files.map((path) => `${path}.new`),
      ...[journal, fleetIndex].flatMap((path) =>
        ["", "-wal", "-shm", "-journal"].map((suffix) => `${path}${suffix}`),
      ),
    ],
    directories: [transcripts, audit],
    sockets: [socket],
  }
}
