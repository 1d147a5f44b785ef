import { existsSync, readFileSync } from "node:fs"
import { cp, mkdtemp, rm } from "node:fs/promises"
import { connect, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { until } from "../../support/until.ts"
import { type BaseDisk, baseDisk } from "./base-disk.ts"
import { must } from "./must.ts"

export type Ran = { exitCode: number; stdout: string; stderr: string }

/** Software emulation: everything is about ten times slower than outside. */
const bootMs = 900_000
const commandMs = 600_000

/**
 * A computer with a disk, on which Debian runs with systemd. It has no network: commands come over
 * a serial port. Its disk stays when its power is cut.
 */
export class Machine implements AsyncDisposable {
  readonly #folder: string
  readonly #base: BaseDisk
  #powered: Powered | null = null

  private constructor(folder: string, base: BaseDisk) {
    this.#folder = folder
    this.#base = base
  }

  /** With some files in /root, by their names there; not started yet. */
  static async make(files: Record<string, string>): Promise<Machine> {
    const base = await baseDisk()
    const folder = await mkdtemp(join(tmpdir(), "cc-executor-machine-"))
    const machine = new Machine(folder, base)
    try {
      await must(["cp", "--sparse=always", base.image, machine.#disk])
      await archive(files, machine.#archive)
    } catch (error) {
      await machine[Symbol.asyncDispose]()
      throw error
    }
    return machine
  }

  get #disk(): string {
    return join(this.#folder, "disk.img")
  }

  get #archive(): string {
    return join(this.#folder, "files.tar")
  }

  async powerOn(): Promise<void> {
    const { kernel, initialRamDisk } = this.#base
    // What the machine has written to its disk is in this file when its power is cut, and what it
    // held in its own memory is lost. Our own memory is not, so the file need not be synced.
    const disk = `file=${this.#disk},format=raw,if=virtio,cache=unsafe`
    const files = `file=${this.#archive},format=raw,if=virtio,readonly=on`
    const boot = ["-kernel", kernel, "-initrd", initialRamDisk, "-drive", disk, "-drive", files]
    this.#powered = await Powered.start(this.#folder, boot)
  }

  /** At once, as when the plug is pulled. */
  async cutPower(): Promise<void> {
    await this.#powered?.[Symbol.asyncDispose]()
    this.#powered = null
  }

  /** A script of bash, as root, in /root. */
  run(script: string, limitMs = commandMs): Promise<Ran> {
    if (this.#powered === null) throw new Error("the machine is off")
    return this.#powered.run(script, limitMs)
  }

  async succeeds(script: string): Promise<boolean> {
    return (await this.run(script)).exitCode === 0
  }

  /** What it prints, where it must go well. */
  async must(script: string, limitMs = commandMs): Promise<string> {
    const { exitCode, stdout, stderr } = await this.run(script, limitMs)
    if (exitCode === 0) return stdout
    throw new Error(`exit code ${exitCode} of ${script}\n${stdout}${stderr}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cutPower()
    await rm(this.#folder, { recursive: true, force: true })
  }
}

/** The machine from power on to power off. */
class Powered implements AsyncDisposable {
  readonly #qemu: Bun.Subprocess
  readonly #console: string
  #port: Socket | null = null
  #received = ""

  private constructor(qemu: Bun.Subprocess, console: string) {
    this.#qemu = qemu
    this.#console = console
  }

  static async start(folder: string, boot: string[]): Promise<Powered> {
    const [socket, console] = [join(folder, "port"), join(folder, "console.log")]
    await rm(socket, { force: true })
    // Should this run be ended before its last test: a machine must not be left.
    const endsWithUs = ["setpriv", "--pdeathsig", "KILL"]
    const qemu = ["qemu-system-x86_64", ...hardware(socket, console), ...boot]
    const process = Bun.spawn([...endsWithUs, ...qemu], {
      stdio: ["ignore", "ignore", Bun.file(join(folder, "qemu.log"))],
    })
    const powered = new Powered(process, console)
    try {
      await until("the machine has a port", () => existsSync(socket) || powered.#isOff())
      powered.#port = connect(socket)
      powered.#port.setEncoding("utf8").on("data", (text: string) => {
        powered.#received += text
      })
      await powered.#line("the machine has booted", bootMs)
    } catch (error) {
      await powered[Symbol.asyncDispose]()
      throw error
    }
    return powered
  }

  async run(script: string, limitMs: number): Promise<Ran> {
    this.#port?.write(`${Buffer.from(script).toString("base64")}\n`)
    const answer = await this.#line(`answer to ${script}`, limitMs)
    const [exitCode = "", stdout = "", stderr = ""] = answer.split(" ")
    const decoded = (text: string) => Buffer.from(text, "base64").toString("utf8")
    return { exitCode: Number(exitCode), stdout: decoded(stdout), stderr: decoded(stderr) }
  }

  async #line(what: string, limitMs: number): Promise<string> {
    const end = await until(what, () => this.#lineEnd() ?? this.#isOff(), limitMs).catch(
      (error: unknown) => this.#fail(error),
    )
    const line = this.#received.slice(0, end)
    this.#received = this.#received.slice(end + 1)
    return line
  }

  #lineEnd(): number | null {
    const end = this.#received.indexOf("\n")
    return end === -1 ? null : end
  }

  #isOff(): false {
    if (this.#qemu.exitCode === null && this.#qemu.signalCode === null) return false
    throw new Error("the machine is off")
  }

  #fail(cause: unknown): never {
    const shown = existsSync(this.#console) ? readFileSync(this.#console, "utf8").slice(-3000) : ""
    throw new Error(`${String(cause)}; its console shows:\n${shown}`, { cause })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#qemu.kill("SIGKILL")
    await this.#qemu.exited
    this.#port?.destroy()
  }
}

function hardware(socket: string, console: string): string[] {
  const options = [
    ["-machine", "q35"],
    ["-accel", "tcg,thread=multi"],
    ["-cpu", "max"],
    ["-smp", "2"],
    ["-m", "2048"],
    ["-display", "none"],
    ["-nic", "none"],
    ["-no-reboot"],
    ["-serial", `file:${console}`],
    ["-append", "root=/dev/vda rw console=ttyS0 loglevel=3 panic=-1"],
    ["-device", "virtio-serial"],
    ["-chardev", `socket,id=port,path=${socket},server=on,wait=off`],
    ["-device", "virtserialport,chardev=port,name=test-runner"],
  ]
  return options.flat()
}

/** The second disk of the machine is no file system but an archive: the simplest way in. */
async function archive(files: Record<string, string>, path: string): Promise<void> {
  const folder = `${path}.files`
  for (const [name, source] of Object.entries(files)) {
    await cp(source, join(folder, name), { recursive: true })
  }
  await must(["tar", "-C", folder, "-cf", path, "."])
  await rm(folder, { recursive: true })
}
