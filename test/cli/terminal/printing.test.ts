import { describe, expect, test } from "bun:test"
import { Glob } from "bun"

/** By any of their spellings. */
const standardStreams = new RegExp(
  [
    /\b(?:process|Bun)\s*(?:\?\.|\.)\s*(?:stdout|stderr)\b(?!`)/,
    /\b(?:process|Bun)\s*(?:\?\.)?\[\s*["'`](?:stdout|stderr)/,
    /\{[^{}]*\b(?:stdout|stderr)\b[^{}]*\}\s*=\s*(?:globalThis\s*\.\s*)?(?:process|Bun)\b/,
    /from "(?:node:)?process"/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "g",
)

/**
 * All ways by which a program could write to a terminal, or say what acts on one. The first entry
 * in each list is where that is done; what else stands there is explained. Whoever adds an entry
 * must know that nothing of others gets through there.
 */
const ways: {
  what: string
  pattern: RegExp
  /** What it must find, one by one. */
  examples: string[]
  allowed: Record<string, number>
}[] = [
  {
    what: "the console",
    pattern:
      /\bconsole\s*(?:\??\.\s*\w+\s*\(|(?:\?\.)?\[)|\} = console\b|\b(?:alert|prompt|confirm)\(/g,
    examples: ["console.log(a)", 'console["log"](a)', "const { log } = console", "alert(a)"],
    allowed: {
      "src/main.ts": 2, // through `harmless`, see below
      "src/service/keeper/serve/upgrade-check.ts": 1, // facts of our own, for another process
      "src/service/keeper/serve/upgrade-watchdog.ts": 3, // for another process, or by `harmless`
    },
  },
  {
    what: "the runtime's standard streams",
    pattern: standardStreams,
    examples: [
      "process.stdout.write(a)",
      'process["stdout"]',
      "process?.stderr",
      "Bun.stderr",
      "const { argv, stdout } = process",
      "const { stderr: out } = Bun",
      'import { stdout } from "node:process"',
    ],
    allowed: {
      "src/cli/system-context.ts": 1, // in a comment
      "src/log/standard-output.ts": 1, // in a comment
      "src/worktree/run-worktree-helper.ts": 1, // answers the keeper
    },
  },
  {
    what: "asynchronous writing to a descriptor",
    pattern: /(?<![.#\w])writev?\(\s*\w*(?:fd|Fd|descriptor)\b/g,
    examples: ["write(fd, bytes)", "writev(outFd, [bytes])"],
    allowed: {
      "src/cli/system-context.ts": 1,
      "src/log/standard-output.ts": 1, // what `createLogger` has made harmless
    },
  },
  {
    what: "synchronous writing to a descriptor or file",
    pattern: /\b(?:writev?Sync|(?:write|append)File(?:Sync)?|createWriteStream)\(/g,
    examples: ["writeSync(out, a)", "fs.writeFileSync(one, a)", "createWriteStream(path)"],
    allowed: {
      "src/lib/write-whole.ts": 1, // files
      "src/workflow/run/files/write-text.ts": 1, // a file
      "src/workflow/run/new-work.ts": 1, // a file
      "src/workflow/run/places/plain-ground.ts": 1, // a file
      "src/workflow/run/places/runner-folder.ts": 1, // a file
      "src/agent/host/run-agent-host.ts": 1, // the record of a session, and its status
      "src/cli/connect/saved-contexts.ts": 1, // a file
      "src/cli/mcp-install/config-file.ts": 1, // a file
      "src/service/access/tokens/made-token.ts": 1, // a file
      "src/service/access/tokens/token-file.ts": 1, // a file
      "src/service/gateway/listen/request-turn.ts": 1, // a connection
      "src/service/os/children/pipe-input.ts": 1, // a child's input
      "src/service/os/children/spawner.ts": 1, // of /proc
      "src/service/os/program-change.ts": 1, // a file in memory
      "src/service/os/tracing/steered-thread.ts": 1, // another process's memory
      "src/service/os/trees/cgroup-base.ts": 9, // of the kernel
      "src/service/os/trees/cgroup-tree.ts": 1, // of the kernel
      "src/service/os/trees/tree-memory.ts": 1, // a file
      "src/service/screens/snapshot.ts": 1, // a file
      "src/service/storage/journal/signing-key.ts": 1, // a file
      "src/service/storage/state-directory.ts": 2, // files
      "src/service/storage/state-schema.ts": 1, // a file
      "src/service/storage/transcript/write/open-segment.ts": 1, // a file
      "src/service/storage/upgrade-files.ts": 1, // a file
      "src/terminal/emulator/emulator.ts": 2, // to an emulator, in memory
      "src/terminal/emulator/xterm-core.ts": 1, // the same
      "src/worktree/make-worktree.ts": 1, // a file
    },
  },
  {
    what: "files, streams and terminals of the runtime",
    pattern: /\bBun\s*[.["' ]+(?:file|write)\b|\bWriteStream\b|"node:(?:console|readline|repl)/g,
    examples: [
      "Bun.file(1).writer()",
      "Bun.write(1, a)",
      "new tty.WriteStream(1)",
      'import { createInterface } from "node:readline"',
    ],
    allowed: {
      "src/service/transports/http/console/console-pack.ts": 1, // reads
      "src/cli/system-context.ts": 3, // asks for the size of a terminal
      "src/agent/host/run-agent-host.ts": 1, // reads its orders
      "src/service/os/children/pipe-output.ts": 1, // reads what a child writes
      "src/worktree/run-worktree-helper.ts": 1, // answers the keeper
    },
  },
  {
    what: "descriptors, and terminals, by their number or name",
    examples: ["writeSync(1, a)", "write( 2, a)", '"/dev/tty"', '"/proc/self/fd/1"'],
    pattern: /[wW]rite(?:v|File)?(?:Sync)?\(\s*[12],|\/dev\/(?:tty|stdout|stderr)|\/fd\/[12]\b/g,
    allowed: { "src/service/os/children/spawner.ts": 1, "src/service/os/libc.ts": 1 }, // comments
  },
  {
    what: "the logger's destination",
    pattern: /\bstandardOutput\(/g,
    examples: ["standardOutput(1)"],
    allowed: {
      "src/log/standard-output.ts": 1,
      "src/cli/commands/bridge.ts": 1, // for `createLogger`
      "src/cli/commands/serve.ts": 1, // for `createLogger`
      "src/service/gateway/serve/serve.ts": 1, // for `createLogger`
    },
  },
  {
    what: "a child that writes to our terminal itself",
    pattern: /["'`]inherit["'`]/g,
    examples: ['stdio: "inherit"'],
    // The server that `bridge -- COMMAND` was told to run: its words are what was asked for.
    allowed: {
      "src/bridge/targets/reconnecting/stdio-link.ts": 2,
      "src/service/os/spawn-watchdog.ts": 1, // this very program
    },
  },
  {
    what: "bytes as they are",
    pattern: /\bwriteBytes\b/g,
    examples: ["out.writeBytes(a)"],
    allowed: {
      "src/cli/system-context.ts": 3,
      "src/cli/context.ts": 1,
      "src/cli/terminal/show-output.ts": 1, // output of an execution
      "src/cli/terminal/screen/terminal-output.ts": 3, // output, and undoes modes by their numbers
      "src/cli/terminal/screen/screen-view.ts": 1, // the cells of a screen
      "src/cli/logs/print-screen.ts": 1, // the same
      "src/cli/executions/interactive-list.ts": 1, // puts back what a program has set
      "src/cli/logs/log-printer.ts": 1, // output of an execution, and times through `onOneLine`
      "src/cli/agents/view/notice-output.ts": 2, // hands on what it is given
      "src/cli/terminal/message-writer.ts": 1, // messages to a program, never to a terminal
    },
  },
  {
    what: "such characters themselves",
    pattern: /[^\P{Cc}\n\t]/gu,
    examples: ["\u001b", "\u009b"],
    allowed: {},
  },
  {
    what: "sequences that act on a terminal",
    pattern: /(?:\\x1b|\\u001b|\\u\{1b\}|\\033)[[\]]|\bnew Sequence\(/gi,
    examples: ["\\x1b[2J", "\\u001b]0;", "new Sequence(a)"],
    allowed: {
      "src/cli/terminal/terminal-text.ts": 44,
      "src/cli/terminal/pressed-keys.ts": 13, // what keys send, to be read
      "src/cli/agents/view/typed-input.ts": 2, // what stands around a paste, to be read
      "src/cli/terminal/terminal-modes.ts": 10, // undo modes by their numbers, see `follow.ts`
      "src/cli/terminal/key-names.ts": 19, // what keys send to an execution
      "src/cli/terminal/screen/painter.ts": 23, // draws the screen of an execution
      "src/cli/terminal/screen/screen-view.ts": 17, // enters and leaves it
      "src/terminal/emulator/answers.ts": 2, // what a terminal answers
      "src/terminal/emulator/cell-style.ts": 2, // to bring a screen back
      "src/terminal/emulator/cell-writer.ts": 5, // the same
      "src/terminal/emulator/restore-text.ts": 21, // the same
      "src/console/execution/sgr.ts": 2, // read out of what was written, in a browser
    },
  },
]

describe("whatever is written to a terminal goes through one function", () => {
  test.each(ways)("$what: used nowhere else", async ({ pattern, allowed }) => {
    const found: Record<string, number> = {}
    for await (const path of new Glob("src/**/*.ts").scan()) {
      const count = (await Bun.file(path).text()).match(pattern)?.length ?? 0
      if (count > 0) found[path] = count
    }

    expect(found).toEqual(allowed)
  })

  test.each(ways)("$what: found in whatever form", ({ pattern, examples }) => {
    for (const example of examples) expect(example.match(pattern)).not.toBeNull()
  })

  test("that makes it harmless", async () => {
    const main = await Bun.file("src/main.ts").text()
    const context = await Bun.file("src/cli/system-context.ts").text()

    expect(main.match(/console\.\w+\((?!harmless\()/g)).toBeNull()
    expect(context).toContain("write: (text) => writeBytes(Buffer.from(terminalText(text)))")
  })
})
