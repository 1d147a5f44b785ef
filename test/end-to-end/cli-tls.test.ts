import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { CommandLine, type Finished } from "../cli/command-line.ts"
import { Authority } from "../support/certificates.ts"
import { Service } from "../support/service.ts"

const authority = new Authority()
const others = new Authority("Others")
const alice = authority.issue({ subject: "/CN=alice" })
const mallory = others.issue({ subject: "/CN=alice" })
const late = authority.issue({ subject: "/CN=alice", days: -1 })
const stack = new AsyncDisposableStack()
const line = stack.use(new CommandLine())

/** Addresses of services: one for everybody, one that wants certificates, and so on. */
const urls = { open: "", closed: "", elsewhere: "", expired: "", plain: "" }

beforeAll(async () => {
  const names = "DNS:elsewhere.example"
  const closed = { "tls-client-ca": authority.ca }
  urls.open = await serve(authority.issue({ subject: "/CN=open" }))
  urls.closed = await serve(authority.issue({ subject: "/CN=closed" }), closed)
  urls.elsewhere = await serve(authority.issue({ subject: "/CN=elsewhere", names }))
  urls.expired = await serve(authority.issue({ subject: "/CN=expired", days: -1 }))
  urls.plain = await serve(null)
})

afterAll(async () => {
  await stack.disposeAsync()
  authority[Symbol.dispose]()
  others[Symbol.dispose]()
})

describe("the command line over wss://", () => {
  const client = ["--client-cert", alice.cert, "--client-key", alice.key]

  test("runs commands and asks for health", async () => {
    const ran = await run(urls.open, "--ca-file", authority.ca)
    const healthy = await line.run(["healthcheck", "--url", urls.open, "--ca-file", authority.ca])

    expect(ran).toMatchObject({ exitCode: 0, stdout: "hi\n", stderr: "" })
    expect(healthy).toMatchObject({ exitCode: 0, stderr: "" })
  })

  test("shows its certificate where one is wanted", async () => {
    const ran = await run(urls.closed, "--ca-file", authority.ca, ...client)

    expect(ran).toMatchObject({ exitCode: 0, stdout: "hi\n", stderr: "" })
  })

  test("takes it all from the environment", async () => {
    const env = {
      CC_EXECUTOR_URL: urls.closed,
      CC_EXECUTOR_CA_FILE: authority.ca,
      CC_EXECUTOR_CLIENT_CERT_FILE: alice.cert,
      CC_EXECUTOR_CLIENT_KEY_FILE: alice.key,
    }

    const ran = await line.run(["run", "--", "echo", "hi"], { env })
    const examined = await line.run(["doctor"], { env })

    expect(ran).toMatchObject({ exitCode: 0, stdout: "hi\n", stderr: "" })
    expect(examined.stdout).toMatch(/ok +remote +wss:\S+ answers/)
    expect(examined.stdout).not.toContain("is not a setting")
  })
})

describe("what keeps it from speaking TLS is said", () => {
  const ca = ["--ca-file", authority.ca]
  const show = (pair: { cert: string; key: string }) => [
    "--client-cert",
    pair.cert,
    "--client-key",
    pair.key,
  ]

  test.each<[string, () => string, string[], string]>([
    ["an unknown authority", () => urls.open, [], "name that authority's file with --ca-file"],
    ["another authority", () => urls.open, ["--ca-file", others.ca], "not from an authority in"],
    ["another name", () => urls.elsewhere, ca, "is for DNS:elsewhere.example, not for 127.0.0.1"],
    ["an expired certificate", () => urls.expired, ca, "its certificate has expired"],
    ["no client certificate", () => urls.closed, ca, "it requires a client certificate"],
    [
      "a foreign client certificate",
      () => urls.closed,
      [...ca, ...show(mallory)],
      "it rejected the client certificate",
    ],
    [
      "an expired client certificate",
      () => urls.closed,
      [...ca, ...show(late)],
      "it rejected the client certificate",
    ],
    [
      "no TLS there",
      () => urls.plain.replace("ws:", "wss:"),
      ca,
      "the service does not use TLS: use ws",
    ],
    ["TLS there", () => urls.open.replace("wss:", "ws:"), [], "the service uses TLS: use wss"],
    ["TLS there, and more", () => urls.closed.replace("wss:", "ws:"), [], "use wss://127.0.0.1"],
  ])("%s", async (_, url, options, why) => {
    const ran = await run(url(), ...options)
    const checked = await line.run(["healthcheck", "--url", url(), ...options])

    expect(ran.stderr).toContain(why)
    expect(ran.stdout).toBe("")
    expect(ran.exitCode).not.toBe(0)
    expect(checked.stderr).toContain(why)
    expect(checked.exitCode).toBe(1)
  })

  test("an unknown authority, although the environment says not to look", async () => {
    const env = { NODE_TLS_REJECT_UNAUTHORIZED: "0" }
    const argv = ["run", "--url", urls.open, "--", "echo", "hi"]

    const ran = await line.run(argv, { env })
    const checked = await line.run(["healthcheck", "--url", urls.open], { env })

    expect(ran.stdout).toBe("")
    expect(ran.stderr).toContain("name that authority's file with --ca-file")
    expect(checked.stderr).toContain("name that authority's file with --ca-file")
  })

  test("by doctor as well", async () => {
    const examined = await line.run(["doctor"], { env: { CC_EXECUTOR_URL: urls.open } })

    expect(examined.exitCode).toBe(1)
    expect(examined.stdout).toContain("name that authority's file with --ca-file")
  })

  test.each<[string, string[], string]>([
    ["a file that is not there", ["--ca-file", "/no/ca.pem"], "/no/ca.pem cannot be read (ENOENT)"],
    [
      "a file that is no certificate",
      ["--ca-file", alice.key],
      "contains no certificate in PEM form",
    ],
    ["a certificate without its key", ["--client-cert", alice.cert], "also needs --client-key"],
    ["a key without its certificate", ["--client-key", alice.key], "also needs --client-cert"],
    ["another's key", show({ ...alice, key: mallory.key }), "is not the key of"],
    ["no key", show({ ...alice, key: alice.cert }), "contains no private key"],
  ])("%s", async (_, options, why) => {
    const ran = await run(urls.open, ...options)

    expect(ran.stderr).toContain(why)
    expect(ran.exitCode).not.toBe(0)
  })
})

function run(url: string, ...options: string[]): Promise<Finished> {
  return line.run(["run", "--url", url, ...options, "--", "echo", "hi"])
}

async function serve(
  pair: { cert: string; key: string } | null,
  more: Record<string, string> = {},
): Promise<string> {
  const tls = pair === null ? {} : { "tls-cert": pair.cert, "tls-key": pair.key }
  const service = stack.use(await Service.start({ flags: { host: "127.0.0.1", ...tls, ...more } }))
  return service.url()
}
