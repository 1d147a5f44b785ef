import { describe, expect, test } from "bun:test"
import { noBrowser } from "../support/browser.ts"
import { executable, isRunning, Service } from "../support/service.ts"
import { sharedConsole } from "../support/shared-console.ts"
import { testUnless } from "../support/test-unless.ts"
import { bearing, makeToken, revokeToken } from "../support/tokens.ts"
import { until } from "../support/until.ts"

const timeoutMs = 60_000
const shared = sharedConsole({ env: { CC_EXECUTOR_REQUIRE_TOKEN: "true" } })

/** What another page, of another port, finds at an address of ours when it does so. */
function foreignPage(body: string) {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => new Response(body, { headers: { "Content-Type": "text/html" } }),
  })
  return { port: server.port, [Symbol.dispose]: () => void server.stop(true) }
}

async function tokens(): Promise<string> {
  const list = Bun.spawn([
    executable,
    "token",
    "list",
    "--json",
    "--state-dir",
    shared().service.stateDir,
  ])
  return list.stdout.text()
}

describe("where a token is needed", () => {
  testUnless(
    noBrowser,
    "a wrong one is refused, a good one lets in, keeps nothing of itself, and leaves no trace",
    async () => {
      const token = await makeToken(shared().service.stateDir, { name: "laptop" })
      await using page = await shared().open()
      await page.whenText("token create")
      await page.fill("#token", `${token.slice(0, -1)}1`)
      await page.press("Enter")
      await page.whenText("The token is not valid")
      await page.fill("#token", token)
      await page.press("Enter")
      await page.whenText("Nothing has run here yet")

      const kept = await page.evaluate("JSON.stringify({ ...sessionStorage, ...localStorage })")
      expect(kept).toContain("cce_")
      expect(kept).not.toContain(token)
      expect(await page.evaluate("document.cookie")).toBe("")
      expect(page.requested.some((address) => address.includes("cce_"))).toBe(false)
      expect(await tokens()).toContain('"session_of"')
      const { secret } = { secret: JSON.parse(kept)["cc-executor-session"] }
      await page.click("button", "Sign out")
      await page.whenText("You have signed out")
      expect((await fetch(new URL("/executions", shared().url), bearing(secret))).status).toBe(401)
      expect((await fetch(new URL("/executions", shared().url), bearing(token))).status).toBe(200)
    },
    timeoutMs,
  )

  testUnless(
    noBrowser,
    "a page is sent away when its token is revoked",
    async () => {
      const token = await makeToken(shared().service.stateDir, { name: "brief" })
      await using page = await shared().open()
      await page.whenText("token create")
      await page.fill("#token", token)
      await page.press("Enter")
      await page.whenText("brief")

      await revokeToken(shared().service.stateDir, token.split("_")[1] ?? "")

      await page.whenText("Where to get one")
    },
    timeoutMs,
  )

  testUnless(
    noBrowser,
    "an expired one is told to be so, when it comes and once it was let in; nothing is tried again",
    async () => {
      const { stateDir } = shared().service
      const short = await makeToken(stateDir, { name: "short", ttl: "1s" })
      const brief = await makeToken(stateDir, { name: "brief", ttl: "4s" })
      await using page = await shared().open()
      const first = await page.whenText("Where to get one")
      await page.fill("#token", brief)
      await page.press("Enter")
      await page.whenText("Sign out")

      // Its session ends with it, while the page is open.
      const text = await page.whenText("Where to get one")
      await page.evaluate("location.reload()")
      await page.when("it was forgotten", "sessionStorage.length === 0 && document.body !== null")
      const reloaded = await page.whenText("Where to get one")
      const asked = page.requested.length
      await page.fill("#token", short)
      await page.press("Enter")
      await page.when(
        "it is refused",
        `document.querySelector("[role=alert]").textContent === "The token has expired."`,
      )

      expect(first).toContain("cc-executor token create --name laptop")
      expect(first).not.toContain("docker")
      expect(first).not.toContain("Authorization")
      expect(text).toContain("has expired")
      expect(reloaded).toContain("The token has expired.")
      expect(page.requested.slice(asked).map((address) => new URL(address).pathname)).toEqual([
        "/sessions",
      ])
    },
    timeoutMs,
  )

  testUnless(
    noBrowser,
    "a gateway that is killed lets the page go on without asking again",
    async () => {
      const { stateDir, gatewayPid } = shared().service
      const token = await makeToken(stateDir, { name: "steady" })
      await using page = await shared().open()
      await page.whenText("Where to get one")
      await page.fill("#token", token)
      await page.press("Enter")
      await page.whenText("Sign out")
      await page.note("document.querySelector('#token') !== null")

      process.kill(gatewayPid, "SIGKILL")
      await until("the gateway is gone", () => !isRunning(gatewayPid))
      await until("it answers again", () => fetch(shared().url).catch(() => null))
      await shared().start({ command: "echo after the kill" }, token)

      await page.whenText("echo after the kill")
      expect(await page.noted()).toEqual([false])
      expect(await page.text()).toContain("steady")
    },
    timeoutMs,
  )

  testUnless(
    noBrowser,
    "a service in a container says so",
    async () => {
      const env = { CC_EXECUTOR_REQUIRE_TOKEN: "true", CC_EXECUTOR_CONTAINER_NAME: "cc" }
      await using contained = await Service.start({ env })
      await using page = await shared().browser.open(await contained.url("/"))

      const text = await page.whenText("Where to get one")

      expect(text).toContain("docker exec CONTAINER cc-executor token create --name laptop")
      expect(text).not.toContain("as its user")
    },
    timeoutMs,
  )

  testUnless(
    noBrowser,
    "who may only read sees nothing that would be refused",
    async () => {
      const own = await makeToken(shared().service.stateDir, { name: "reader", scope: "execute" })
      await shared().start({ command: "sleep 60", stdin: "pipe" }, own)
      const token = await makeToken(shared().service.stateDir, { name: "reader", scope: "read" })
      await using page = await shared().open()
      await page.whenText("token create")
      await page.fill("#token", token)
      await page.press("Enter")
      await page.whenText("sleep 60")

      expect(await page.text()).not.toContain("Start…")
      await page.click(".executions a")
      await page.whenText("It has not written anything yet")
      expect(await page.evaluate("document.querySelectorAll('.steering, #stdin').length")).toBe(0)
      await page.evaluate("location.hash = '#/start'")
      await page.whenText("it needs the scope")
      expect(page.complaints.filter((text) => !text.includes("401"))).toEqual([])
    },
    timeoutMs,
  )
})

describe("pages of others", () => {
  testUnless(
    noBrowser,
    "may link to the console, and nothing else: it cannot be framed or read",
    async () => {
      const data = new URL("/executions", shared().url).href
      const { url } = shared()
      const body = `<a id="link" href="${url}">open</a><iframe id="frame" src="${url}"></iframe>`
      using foreign = foreignPage(body)
      await using page = await shared().browser.open(`http://127.0.0.1:${foreign.port}/`)

      const read = (address: string) =>
        `fetch("${address}").then((got) => got.status, () => "refused")`
      expect(await page.evaluate(read(data))).toBe("refused")
      expect(await page.evaluate(read(shared().url))).toBe("refused")
      expect(page.complaints.join("\n")).toMatch(/frame|X-Frame-Options|403/i)
      await page.click("#link")
      await page.whenText("Where to get one")
    },
    timeoutMs,
  )
})

describe("the page over HTTP", () => {
  test("is sent with a policy, and not again while it is the same", async () => {
    const page = await fetch(shared().url)
    const again = await fetch(shared().url, {
      headers: { "If-None-Match": page.headers.get("etag") ?? "" },
    })

    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'")
    expect(page.headers.get("content-security-policy")).toContain("frame-ancestors 'none'")
    expect(page.headers.get("content-security-policy")).not.toContain("unsafe")
    expect(page.headers.get("cache-control")).toBe("no-cache")
    expect(page.headers.get("x-frame-options")).toBe("DENY")
    expect(again.status).toBe(304)
  })

  test.each(["br", "gzip", "identity"])("is sent as %s", async (encoding) => {
    const page = await fetch(shared().url, { headers: { "Accept-Encoding": encoding } })

    expect(page.headers.get("content-encoding")).toBe(encoding === "identity" ? null : encoding)
    expect(await page.text()).toContain("<title>cc-executor</title>")
  })

  test("is refused to frames, to other sites, and to names that are not ours", async () => {
    const asked = (headers: Record<string, string>) => fetch(shared().url, { headers })
    const link = { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate" }

    expect((await asked({ ...link, "Sec-Fetch-Dest": "document" })).status).toBe(200)
    expect((await asked({ ...link, "Sec-Fetch-Dest": "iframe" })).status).toBe(403)
    expect(
      (await asked({ "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors" })).status,
    ).toBe(403)
    expect(
      (await asked({ Host: "evil.example", ...link, "Sec-Fetch-Dest": "document" })).status,
    ).toBe(403)
    const data = new URL("/executions", shared().url)
    expect((await fetch(data, { headers: { ...link, "Sec-Fetch-Dest": "document" } })).status).toBe(
      403,
    )
  })

  test("is not there with --no-console", async () => {
    await using plain = await Service.start({ env: { CC_EXECUTOR_NO_CONSOLE: "true" } })

    const answer = await fetch(await plain.url("/"))

    expect(answer.status).toBe(404)
    expect(JSON.parse(await answer.text()).error.data.reason).toBe("METHOD_NOT_FOUND")
  })
})
