import { expect, test } from "bun:test"
import { Glob } from "bun"
import { dispatch } from "../../../src/cli/dispatch.ts"
import { fakeContext } from "../fake-context.ts"

const commands = [["healthcheck"], ["ps"], ["run", "--", "true"], ["logs", "7kq2mfa4"]]

test.each(commands)("%s follows no redirect, and says where it leads", async (...argv) => {
  const visits: string[] = []
  using other = Bun.serve({ port: 0, fetch: (request) => new Response(visited(visits, request)) })
  const target = `http://localhost:${other.port}/readyz`
  using first = Bun.serve({ port: 0, fetch: () => Response.redirect(target, 307) })
  const env = { CC_EXECUTOR_URL: `ws://127.0.0.1:${first.port}`, CC_EXECUTOR_TOKEN: "secret" }
  const context = fakeContext({ env })

  const exitCode = await dispatch(context, argv)

  expect(visits).toEqual([])
  expect(exitCode).toBeGreaterThan(0)
  expect(context.stderr.text()).toContain(`it redirects (307) to ${target}, which is not followed`)
})

function visited(visits: string[], request: Request): string {
  visits.push(request.url)
  return "ok"
}

test("no request of this program follows redirects", async () => {
  const calls: string[] = []
  for await (const path of new Glob("src/**/*.ts").scan()) {
    const source = await Bun.file(path).text()
    // Methods of that name answer requests; a call of the global function makes one.
    for (const { index } of source.matchAll(/(?<!\.)\bfetch\(url\b/g)) {
      calls.push(source.slice(index, source.indexOf("\n    })", index)))
    }
  }

  expect(calls.length).toBeGreaterThan(1)
  for (const call of calls) expect(call).toContain('redirect: "manual"')
})
