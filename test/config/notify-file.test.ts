import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { readNotifyFile } from "../../src/config/notify-file.ts"

const page = readFileSync(join(import.meta.dir, "../../docs/notifications.md"), "utf8")
const examples = [...page.matchAll(/```yaml\n([^]*?)```/g)].map(([, text = ""]) => text)

describe("a file of targets", () => {
  test("is read as docs/notifications.md shows it", () => {
    expect(examples).toHaveLength(2)
    const [first, second] = examples.map((text) => readNotifyFile(text))
    expect(first).toMatchObject({ ok: true, value: { baseUrl: null } })
    expect(second).toMatchObject({
      ok: true,
      value: {
        baseUrl: "https://build.example.net",
        targets: [
          {
            name: "payments",
            way: { kind: "slack", url: { file: "/etc/cc-executor/slack-url" } },
            events: ["failed", "lost", "test"],
            rules: [
              { principals: null, labels: { team: "payments" } },
              { principals: ["ci", "nightly-builds"], labels: {} },
            ],
            usedBy: [],
            include: ["output"],
          },
          { name: "phone", rules: [], usedBy: ["alice"] },
          { name: "desk", way: { kind: "command", argv: ["/usr/local/bin/tell-me", "--brief"] } },
        ],
      },
    })
  })

  test.each([
    ["targets:\n  a b:\n    kind: slack\n    url: https://a.example/", "line 2"],
    ["targets:\n  a:\n    kind: slack", "needs either url or url_file"],
    [
      "targets:\n  a:\n    kind: slack\n    url: https://x/\n    url_file: /x",
      "either url or url_file",
    ],
    ["targets:\n  a:\n    kind: webhook\n    url: https://a.example/", "needs secret_file"],
    ["targets:\n  a:\n    kind: slack\n    url: https://me:pw@a.example/", "no password"],
    ["targets:\n  a:\n    kind: slack\n    url: http://localhost.example.net/", "https://"],
    ["targets:\n  a:\n    kind: command\n    argv: [x]\n    url: https://x/", "has no url"],
    ["targets:\n  a:\n    kind: command", "needs argv"],
    ["targets:\n  a:\n    kind: slack\n    url: https://x/\n    sent: never", "always"],
  ])("that says %j is refused", (text, why) => {
    const read = readNotifyFile(text)
    expect(read.ok ? "" : read.failure).toContain(why)
  })
})
