import { afterAll, beforeAll, describe, expect } from "bun:test"
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Receipt } from "../../src/execution/receipt.ts"
import { admitted } from "../support/admitted.ts"
import { describeAContainment } from "../support/each-containment.ts"
import type { RawSession } from "../support/raw-session.ts"
import { executable, isRunning, Service } from "../support/service.ts"
import { notRoot, testUnless } from "../support/test-unless.ts"
import { until } from "../support/until.ts"

const uid = 65534
const folder = mkdtempSync(join(tmpdir(), "cc-executor-run-as-"))
const own = join(folder, "own")

beforeAll(() => {
  chmodSync(folder, 0o755)
  for (const name of ["own", "closed"]) mkdirSync(join(folder, name), { mode: 0o700 })
  if (notRoot === null) chownSync(own, uid, uid)
  for (const [name, mode] of [
    ["open-script", 0o755],
    ["closed-script", 0o700],
  ] as const) {
    writeFileSync(join(folder, name), "#!/bin/sh\necho it ran\n")
    chmodSync(join(folder, name), mode)
  }
})
afterAll(() => rmSync(folder, { recursive: true }))

const asRoot = (behaviour: string, run: () => Promise<void>) =>
  testUnless(notRoot, behaviour, run, 30_000)

async function started(flags: Record<string, string> = {}, cwd = "/") {
  const all = { "run-as": `${uid}:${uid}`, ...flags }
  const service = await Service.start({ flags: all, cwd })
  const { session } = await admitted(service)
  return { service, session }
}

describeAContainment("a child that runs as another user", (containment) => {
  const stack = new AsyncDisposableStack()
  let session: RawSession
  beforeAll(async () => {
    if (notRoot !== null) return
    const both = await started({ containment })
    stack.use(both.service)
    session = stack.use(both.session)
  })
  afterAll(() => stack.disposeAsync())

  asRoot("has that user's ids and nothing else", async () => {
    const { stdout } = await session.run({ command: "cat /proc/self/status" })
    const { stdout: descriptors } = await session.run({ argv: ["ls", "/proc/self/fd"] })

    const ids = `${uid}\t${uid}\t${uid}\t${uid}`
    expect(stdout).toContain(`Uid:\t${ids}\n`)
    expect(stdout).toContain(`Gid:\t${ids}\n`)
    expect(stdout).toMatch(/^Groups:\s*$/m)
    expect(stdout).toMatch(/^CapEff:\s*0+$/m)
    expect(descriptors).toBe("0\n1\n2\n3\n") // the last one lists them
  })

  asRoot("may open its own pipes again, and its terminal", async () => {
    const piped = await session.run({
      command: "echo out > /dev/stdout; echo err > /dev/stderr",
    })
    // The terminal becomes the user's a moment after the program has started.
    const typed = await session.run({
      command:
        "until [ -O $(tty) ]; do :; done; " +
        "echo on > $(tty); echo also > /dev/stdout; echo tty > /dev/tty",
      terminal: { cols: 80, rows: 24 },
    })
    const reading = await session.call("execute", {
      command: "cat < /dev/stdin | cat",
      stdin: "pipe",
    })
    const { execution_id } = reading
    await session.call("input", { execution_id, data: "said\n", end: true })
    await session.heard("process.completed", execution_id)

    expect(piped).toMatchObject({ stdout: "out\n", stderr: "err\n" })
    expect(typed.stdout).toBe("on\r\nalso\r\ntty\r\n")
    const [said] = session.allHeard("process.output", execution_id)
    expect(said?.data).toBe("said\n")
  })

  asRoot("is found, frozen, signalled and ended with its whole tree", async () => {
    const lines = "setsid sh -c 'sleep 300 & echo $! ; wait' & echo $! ; wait"
    const { execution_id } = await session.call("execute", { command: lines })
    const pids = await until("its pids", () => {
      const text = session
        .allHeard("process.output", execution_id)
        .map(({ data }) => data)
        .join("")
      const found = text.match(/\d+/g)?.map(Number) ?? []
      return found.length === 2 ? found : undefined
    })

    const paused = await session.call("control", { type: "PAUSE", execution_id })
    const resumed = await session.call("control", { type: "RESUME", execution_id })
    const signaled = await session.call("control", { type: "SIGNAL", signal: "CONT", execution_id })
    const canceled = await session.call("control", { type: "CANCEL", execution_id })

    expect([paused.status, resumed.status]).toEqual(["paused", "resumed"])
    expect(signaled).toMatchObject({ processes: expect.any(Number) })
    expect(canceled).toMatchObject({ status: "canceled", survivors: [] })
    expect(pids.filter(isRunning)).toEqual([])
  })

  asRoot("is named in the receipt", async () => {
    const { id } = await session.run({ argv: ["true"] })
    const { payload } = await session.call("receipt", { execution_id: id })
    const json: unknown = JSON.parse(Buffer.from(payload, "base64").toString())

    const { ran_as } = Receipt.parse(json)
    expect(ran_as).toMatchObject({ uid, gid: uid, same_user_as_service: false })
  })
})

describe("with another user for the children", () => {
  asRoot("the state directory, its keys and the policy are out of their reach", async () => {
    const policyFile = join(folder, "policy.yaml")
    writeFileSync(policyFile, "commands:\n  sh: any\n  ls: any\n", { mode: 0o644 })
    const { service, session } = await started({ "policy-file": policyFile, shell: "/bin/sh" })
    await using _service = service
    using _session = session
    const { stateDir } = service

    for (const command of [
      `ls ${stateDir}/`,
      `sh -c 'cat ${stateDir}/receipt-key.pem'`,
      `sh -c 'echo x >> ${policyFile}'`,
      `sh -c 'mv ${policyFile} ${policyFile}.old'`,
      `sh -c 'kill -0 ${service.pid}'`,
      `sh -c 'cat /proc/${service.pid}/environ'`,
    ])
      expect((await session.run({ command })).completed.exit_code).not.toBe(0)
    expect((await session.run({ command: "sh -c 'echo x > /dev/stdout'" })).stdout).toBe("x\n")
  })

  asRoot("they get that user's home, and the command line does not send its own", async () => {
    const { service, session } = await started()
    await using _service = service
    using _session = session
    const show = ["sh", "-c", "echo $HOME $USER $SHELL $LOGNAME"]

    const { stdout } = await session.run({ argv: show })
    const cli = [executable, "run", "--state-dir", service.stateDir, "--", ...show]
    const env = { ...process.env, HOME: "/home/me", USER: "me" }
    const child = Bun.spawn(cli, { cwd: "/", env, stdin: "ignore", stdout: "pipe" })

    expect(stdout).not.toContain(process.env["HOME"] ?? "/root")
    expect(await child.stdout.text()).toBe(stdout)
  })

  asRoot("a directory or a program that is closed to that user cannot be used", async () => {
    const { service, session } = await started({}, join(folder, "closed"))
    await using _service = service
    using _session = session
    const eacces = { code: -32009, data: { reason: "SPAWN_FAILED", errno: "EACCES" } }

    const somewhere = await session.run({ argv: ["pwd"] })
    const inOwn = await session.run({ argv: ["touch", "made"], cwd: own })
    const script = await session.run({ argv: [join(folder, "open-script")] })
    const closed = await session.refused("execute", { argv: ["true"], cwd: join(folder, "closed") })
    const locked = await session.refused("execute", { argv: [join(folder, "closed-script")] })

    expect(somewhere.stdout).toBe("/\n") // neither the service's directory nor a home is open
    expect(inOwn.completed.exit_code).toBe(0)
    expect(script.stdout).toBe("it ran\n")
    expect(closed).toMatchObject(eacces)
    expect(locked).toMatchObject(eacces)
  })
})

describe("a service does not start", () => {
  async function refusalOf(
    flags: Record<string, string>,
    prefix: string[] = [],
    stateDir?: string,
  ): Promise<string> {
    await using service = new Service({
      flags,
      prefix,
      cwd: "/",
      ...(stateDir === undefined ? {} : { stateDir }),
    })
    expect(await service.exited).toBe(1)
    return service.said.join("\n")
  }

  asRoot("with children that are root, or that are nobody it knows", async () => {
    expect(await refusalOf({ "run-as": "root" })).toContain("children would be root")
    expect(await refusalOf({ "run-as": "0:5" })).toContain("children would be root")
    expect(await refusalOf({ "run-as": "no-such-user" })).toContain("there is no user")
  })

  asRoot("without being root itself", async () => {
    const drop = ["setpriv", `--reuid=${uid}`, `--regid=${uid}`, "--clear-groups"]
    const said = await refusalOf({ "run-as": `${uid}:${uid}` }, drop, own)
    expect(said).toContain("needs root")
  })

  asRoot("with a policy file that the children could change", async () => {
    const flags = { "run-as": `${uid}:${uid}` }
    const theirs = join(folder, "their-policy.yaml")
    writeFileSync(theirs, "commands:\n  ls: any\n")
    chownSync(theirs, uid, uid)
    const inTheirs = join(own, "policy.yaml")
    writeFileSync(inTheirs, "commands:\n  ls: any\n")

    for (const path of [theirs, inTheirs])
      expect(await refusalOf({ ...flags, "policy-file": path })).toContain("belongs to uid")
  })

  asRoot("with a state directory that belongs to them", async () => {
    const stateDir = join(folder, "state")
    mkdirSync(stateDir)
    chownSync(stateDir, uid, uid)
    const said = await refusalOf({ "run-as": `${uid}:${uid}` }, [], stateDir)
    expect(said).toContain(`belongs to user ${uid}, and this is user 0`)
  })
})

describe("SIGHUP to a service whose children run as another user", () => {
  const flags = { "run-as": "worker", "allowed-commands": "id" }

  /** A service for which /etc/passwd is a file of this test's. */
  async function withAccount(passwd: string, stateDir: string) {
    const script = 'mount --bind "$0" /etc/passwd && exec "$@"'
    const prefix = ["unshare", "--mount", "sh", "-c", script, passwd]
    const service = await Service.start({ flags, prefix, stateDir, cwd: "/" })
    const { session } = await admitted(service)
    return { service, session }
  }

  const account = (id: number) => `root:x:0:0::/root:/bin/sh\nworker:x:${id}:${id}::/:/bin/sh\n`

  asRoot("keeps the old policy when the account is another one by now", async () => {
    const passwd = join(folder, "passwd")
    writeFileSync(passwd, account(64_001))
    const { service, session } = await withAccount(passwd, join(folder, "state-a"))
    await using _service = service
    using _session = session
    expect((await session.run({ argv: ["id", "-u"] })).stdout).toBe("64001\n")

    writeFileSync(passwd, account(64_002))
    service.kill("SIGHUP")
    await until("it is not read", () => logged(service, "was 64001:64001 and is now 64002:64002"))
    expect((await session.run({ argv: ["id", "-u"] })).stdout).toBe("64001\n")

    writeFileSync(passwd, account(64_001))
    service.kill("SIGHUP")
    await until("it is read again", () => logged(service, "policy reloaded"))
  })

  asRoot("keeps the old policy when the state directory is open to that user", async () => {
    const passwd = join(folder, "passwd")
    writeFileSync(passwd, account(64_001))
    const stateDir = join(folder, "state-b")
    const { service, session } = await withAccount(passwd, stateDir)
    await using _service = service
    using _session = session

    chmodSync(stateDir, 0o755)
    service.kill("SIGHUP")

    await until("it is not read", () => logged(service, "is open to worker"))
    expect(logged(service, "the old one stays in force")).toBe(true)
    chmodSync(stateDir, 0o700)
    service.kill("SIGHUP")
    await until("it is read again", () => logged(service, "policy reloaded"))
  })
})

function logged(service: Service, text: string): boolean {
  return service.log.some((line) => line.includes(text))
}
