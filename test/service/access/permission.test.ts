import { expect, test } from "bun:test"
import { join } from "node:path"
import { methods } from "../../../src/protocol/methods.ts"
import { scopeOf } from "../../../src/service/access/permission.ts"

const page = join(import.meta.dir, "../../../docs/protocol.md")

test("docs/protocol.md says which scope each method needs, and which need none", async () => {
  const text = await Bun.file(page).text()
  const table = /^\| scope \| methods \|\n(?:\|.*\n)*/m.exec(text)?.[0] ?? ""
  const rows = [...table.matchAll(/^\| `(execute|control|read|attest|admin)` \| (`.*) \|$/gm)]
  const told = rows.flatMap(([, scope = "", names = ""]) =>
    names
      .split(", ")
      .filter((name) => name !== "`attach` as a driver")
      .map((name) => [name.replaceAll("`", ""), scope]),
  )

  expect(Object.fromEntries(told)).toEqual(scopeOf)
  const others = Object.keys(methods).filter((name) => !(name in scopeOf))
  expect(others.toSorted()).toEqual(["ack", "detach"])
  expect(text).toContain("`ack` and `detach` need no scope")
})
