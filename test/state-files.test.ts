import { expect, test } from "bun:test"
import { Glob } from "bun"

/**
 * Files of a state directory are opened by `lib/owned-file.ts` alone: see decision 25. So whoever
 * else gives a path to the system is listed here, with the calls that it makes and why that is no
 * way around it. A call that is added, in a file that is listed or not, has to be reviewed.
 */
const reviewed: { why: string; files: Record<string, string> }[] = [
  {
    why: "is the one way",
    files: {
      "src/lib/owned-file.ts": "chmodSync openSync readlinkSync renameSync rmSync",
    },
  },
  {
    why: "writes to a descriptor that it was given by owned-file.ts",
    files: {
      "src/service/access/tokens/made-token.ts": "writeFileSync",
      "src/service/access/tokens/token-file.ts": "writeFileSync",
      "src/service/storage/journal/signing-key.ts": "writeFileSync",
      "src/service/storage/state-schema.ts": "writeFileSync",
      "src/service/storage/upgrade-files.ts": "writeFileSync",
    },
  },
  {
    why: "only looks at what is there, follows no link, or uses nothing of what it sees",
    files: {
      "src/cli/connect/local-service-link.ts": "lstatSync",
      "src/cli/connect/reach.ts": "lstatSync statSync", // whose the directory is, for a sentence
      "src/cli/doctor/examine-directory.ts": "accessSync statSync statfsSync", // reports on them
      "src/cli/doctor/examine-running.ts": "accessSync statSync", // whether there is a log
      "src/cli/verify/verify-offline.ts": "existsSync realpathSync", // of what a person named
      "src/service/access/tokens/watched-tokens.ts": "lstatSync statSync", // whether it changed
      "src/service/storage/locate-state-directory.ts": "lstatSync mkdirSync readlinkSync",
    },
  },
  {
    why: "makes a directory, which owned-file.ts checks before anything in it is used",
    files: {
      "src/service/storage/state-directory.ts": "lstatSync mkdirSync statfsSync writeFileSync",
      "src/service/audit/audit-log.ts": "accessSync mkdirSync",
      "src/service/audit/audit-files.ts": "readdirSync", // after the check
      "src/service/audit/chain-end.ts": "lstatSync",
      "src/cli/connect/saved-contexts.ts": "mkdirSync realpathSync", // not of a state directory
    },
  },
  {
    why: "transcripts, opened thousands of times a second: their directory is checked at the start",
    files: {
      "src/service/storage/transcript/segment-files.ts": "lstatSync readdirSync rmSync",
      "src/service/storage/transcript/store.ts": "mkdirSync readdirSync rmSync", // follow no link
      "src/service/storage/transcript/write/open-segment.ts": "existsSync mkdirSync openSync", // wx
      "src/service/storage/transcript/write/recover.ts": "rmSync", // follows no link
      "src/service/storage/transcript/write/syncer.ts": "open", // with the flags of owned-file.ts
    },
  },
  {
    why: "SQLite opens by path: every file of the journal is checked before",
    files: {
      "src/service/storage/journal/connection.ts": "Database statSync statfsSync",
    },
  },
  {
    why: "a log that a person named; one of a state directory goes through owned-file.ts",
    files: {
      "src/log/rotating-file.ts":
        "accessSync existsSync lstatSync mkdirSync openSync realpathSync renameSync statSync",
    },
  },
  {
    why: "files that a person or a setting names",
    files: {
      "src/agent/host/run-agent-host.ts": "Bun.file", // its orders
      "src/cli/commands/mcp-install.ts": "existsSync",
      "src/cli/commands/review/request.ts": "readFileSync",
      "src/cli/commands/verify.ts": "readFileSync",
      "src/cli/connect/bearer-token.ts": "readFileSync",
      "src/cli/connect/client-tls.ts": "readFileSync",
      "src/cli/mcp-install/config-file.ts":
        "lstatSync mkdirSync readFileSync readlinkSync statSync",
      "src/fleet/engine/nats-engine.ts": "readFileSync",
      "src/fleet/peer/node-connection.ts": "readFileSync",
      "src/lib/open-file.ts": "openSync",
      "src/lib/write-whole.ts": "openSync renameSync rmSync",
      "src/service/access/tokens/accepted-tokens.ts": "readFileSync",
      "src/service/gateway/listen/tls-material.ts": "readFileSync statSync",
      "src/service/gateway/listen/tls-rotation.ts": "statSync",
      "src/service/gateway/serve/fleet-member.ts": "readFileSync",
      "src/service/keeper/serve/policy-in-force.ts": "existsSync readFileSync",
      "src/service/keeper/serve/settings.ts": "readFileSync",
    },
  },
  {
    why: "works, which a person names, and copies of their directories in the person's own cache",
    files: {
      "src/cli/work/verify-file.ts": "statSync",
      "src/service/os/directory-lock.ts": "openSync",
      "src/workflow/run/files/read-work.ts": "readFileSync realpathSync statSync",
      "src/workflow/run/files/work-state.ts": "existsSync",
      "src/workflow/run/files/ledger-file.ts": "openSync",
      "src/workflow/run/files/write-text.ts":
        "chmodSync openSync readFileSync renameSync rmSync statSync",
      "src/workflow/run/improve/improve-prompt.ts": "readFileSync",
      "src/workflow/run/make-badge.ts": "mkdirSync",
      "src/workflow/run/suite/read-suite.ts": "realpathSync",
      "src/workflow/run/suite/report-folder.ts": "mkdirSync",
      "src/workflow/run/graduate.ts": "copyFileSync existsSync mkdirSync renameSync",
      "src/workflow/run/new-work.ts": "mkdirSync writeFileSync",
      "src/workflow/run/one-runner.ts": "mkdirSync openSync rmSync",
      "src/workflow/run/open-works.ts": "readdirSync statSync",
      "src/workflow/run/places/git-ground.ts": "copyFileSync existsSync rmSync statSync utimesSync",
      "src/workflow/run/places/git.ts": "existsSync",
      "src/workflow/run/places/plain-ground.ts":
        "copyFileSync lstatSync mkdirSync readFileSync readdirSync readlinkSync rmSync " +
        "symlinkSync writeFileSync",
      "src/workflow/run/places/runner-folder.ts":
        "existsSync lstatSync mkdirSync openSync readFileSync readdirSync realpathSync rmSync " +
        "rmdirSync writeFileSync",
      "src/workflow/run/places/test-folders.ts": "readdirSync",
      "src/workflow/run/review/deliver-review.ts": "existsSync mkdirSync",
      "src/workflow/run/review/new-request.ts": "existsSync mkdirSync",
      "src/workflow/run/review/review-attempt.ts": "mkdirSync",
      "src/workflow/run/review/review-place.ts": "lstatSync mkdirSync readFileSync renameSync",
      "src/workflow/run/review/round-files.ts": "readdirSync",
      "src/workflow/run/trial/prepared-trial.ts": "existsSync mkdirSync readFileSync statSync",
      "src/workflow/run/trial/run-trial.ts": "copyFileSync mkdirSync",
    },
  },
  {
    why: "an agent's own files, in its user's home",
    files: {
      "src/agent/claude/claude-agent.ts": "existsSync readdirSync",
      "src/agent/claude/live-sessions.ts": "readdirSync realpathSync statSync",
    },
  },
  {
    why: "git's worktrees, by a process of the user that sessions run as",
    files: {
      "src/worktree/changes.ts": "copyFileSync existsSync rmSync",
      "src/worktree/checkout.ts": "existsSync statSync",
      "src/worktree/make-worktree.ts": "existsSync lstatSync mkdirSync realpathSync writeFileSync",
      "src/worktree/remove-worktree.ts": "existsSync rmSync rmdirSync",
      "src/worktree/run-worktree-helper.ts": "Bun.write", // its answer
      "src/worktree/take-worktree.ts": "existsSync lstatSync",
      "src/worktree/tree-state.ts": "existsSync",
    },
  },
  {
    why: "programs, what belongs to them, and directories that are to be run, or run in",
    files: {
      "src/service/os/own-program.ts": "statSync",
      // The console that stands beside a program that was started from its sources.
      "src/service/transports/http/console/console-pack.ts": "Bun.file existsSync",
      "src/service/os/programs/open-working-directory.ts": "openSync statSync",
      "src/service/os/programs/program-files.ts": "openSync realpathSync statSync",
      "src/service/os/programs/programs.ts": "accessSync realpathSync statSync",
      "src/service/os/real-directories.ts": "realpathSync", // of rules
      "src/service/os/programs/user-reach.ts": "lstatSync readlinkSync realpathSync statSync",
    },
  },
  {
    why: "the kernel's: /proc, /dev, cgroups, descriptors",
    files: {
      "src/cli/connect/hand-over-settings.ts": "readFileSync",
      "src/cli/doctor/containment.ts": "rmdirSync",
      "src/cli/doctor/examine-machine.ts": "accessSync existsSync readFileSync",
      "src/cli/terminal/pipe-sibling.ts": "readFileSync readdirSync readlinkSync",
      "src/service/keeper/serve/upgrade.ts": "openSync readFileSync",
      "src/service/metrics/process-figures.ts": "readFileSync readdirSync",
      "src/service/os/children/pipe-output.ts": "Bun.file",
      "src/service/os/children/pseudo-terminal.ts": "chownSync",
      "src/service/keeper/serve/runs-in.ts": "existsSync",
      "src/service/os/children/rlimits.ts": "existsSync",
      "src/service/os/children/spawner.ts": "writeFileSync",
      "src/service/os/descriptor-reserve.ts": "openSync readFileSync readlinkSync",
      "src/service/os/descriptors.ts": "readdirSync statSync",
      "src/service/os/network/accepted-sockets.ts": "readFileSync",
      "src/service/os/own-descriptors.ts": "readFileSync readdirSync readlinkSync",
      "src/service/os/proc.ts": "readFileSync readdirSync readlinkSync",
      "src/service/os/reaper.ts": "readFileSync",
      "src/service/os/tracing/steered-thread.ts": "openSync readFileSync",
      "src/service/os/tracing/traced-process.ts": "readFileSync readdirSync",
      "src/service/os/tracing/watched-program.ts": "readFileSync",
      "src/service/os/trees/cgroup-base.ts":
        "existsSync mkdirSync readFileSync rmdirSync writeFileSync",
      "src/service/os/trees/cgroup-tree.ts": "readFileSync readdirSync rmdirSync writeFileSync",
      "src/service/os/trees/sweep.ts": "existsSync readdirSync",
      "src/service/os/trees/tree-memory.ts": "readlinkSync writeFileSync",
    },
  },
]

/** What takes a descriptor, or does nothing, says nothing of a path. */
const withoutPath = /^(?:f[a-z]+(?:Sync)?|(?:close|read|write|readv|writev)(?:Sync)?|constants)$/

function callsIn(text: string): string[] {
  const named = [...text.matchAll(/import (?!type)\{([^}]*)\} from "(?:node:)?fs(?:\/promises)?"/g)]
  const names = named
    .flatMap(([, list = ""]) => list.split(","))
    .map((name) => name.trim())
    .filter((name) => name !== "" && !name.startsWith("type "))
    .map((name) => name.replace(/ as .*/, ""))
  const whole = /import (?:\* as )?(\w+) from "(?:node:)?fs(?:\/promises)?"/.exec(text)?.[1]
  const members =
    whole === undefined
      ? []
      : [...text.matchAll(new RegExp(`\\b${whole}\\.(\\w+)`, "g"))].map(([, name = ""]) => name)
  const ofBun = [...text.matchAll(/\bBun\s*\.\s*(?:file|write)\b/g)].map(([call]) => call)
  const databases = /\bnew Database\(/.test(text) ? ["Database"] : []
  const hidden = /\b(?:require|import)\(\s*"(?:node:)?fs|process\.binding/.test(text)
    ? ["hidden fs"]
    : []
  const all = [...names, ...members, ...ofBun, ...databases, ...hidden]
  return [...new Set(all)].filter((name) => !withoutPath.test(name)).toSorted()
}

test("files of a state directory are opened in one place", async () => {
  const found: Record<string, string> = {}
  for await (const path of new Glob("src/**/*.ts").scan()) {
    const calls = callsIn(await Bun.file(path).text())
    if (calls.length > 0) found[path] = calls.join(" ")
  }

  const listed = Object.assign({}, ...reviewed.map(({ files }) => files))
  expect(found).toEqual(listed)
})

test.each([
  ['import { openSync, type Stats } from "node:fs"', ["openSync"]],
  ['import * as fs from "node:fs"\nfs.rmSync(a)\nfs.fstatSync(b)', ["rmSync"]],
  ['import fs from "fs"\nfs.promises', ["promises"]],
  ['import { open as o } from "node:fs/promises"', ["open"]],
  ['await import("node:fs")', ["hidden fs"]],
  ["Bun.file(path)", ["Bun.file"]],
  ["new Database(path)", ["Database"]],
  ['import { closeSync, fstatSync } from "node:fs"', []],
])("%s is seen", (text, calls) => {
  expect(callsIn(text)).toEqual(calls)
})
