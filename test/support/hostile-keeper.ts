import { until } from "./until.ts"

/**
 * Holds the lock of a state directory as a keeper does, with words of its own in it, and refuses
 * every upgrade with them.
 */
const program = `
import fcntl, json, os, signal, sys

directory, words, upgrades = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3] == "true"
lock = os.open(directory + "/lock", os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
fcntl.flock(lock, fcntl.LOCK_EX)
ticks = int(open("/proc/self/stat").read().rsplit(")", 1)[1].split()[19])
os.write(lock, json.dumps({"pid": os.getpid(), "startTicks": ticks, "version": words,
    "startedAt": words, "upgrades": upgrades}).encode())

def refuse(*_):
    name = json.load(open(directory + "/upgrade-request.json"))["upgrade"]
    draft = directory + "/draft"
    with open(draft, "w") as file:
        json.dump({"upgrade": name, "phase": "refused", "why": words}, file)
    os.rename(draft, directory + "/upgrade-report.json")

signal.signal(signal.SIGUSR2, refuse)
print("holds", flush=True)
while True:
    signal.pause()
`

/** A process that is believed to be the service of a state directory; ends with the scope. */
export class HostileKeeper implements AsyncDisposable {
  readonly #process
  #said = ""

  constructor(stateDir: string, words: string, options: { upgrades: boolean }) {
    const args = [stateDir, JSON.stringify(words), String(options.upgrades)]
    this.#process = Bun.spawn(["/usr/bin/python3", "-c", program, ...args], {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "inherit",
    })
    void this.#collect()
  }

  async #collect(): Promise<void> {
    const decoder = new TextDecoder()
    for await (const piece of this.#process.stdout) this.#said += decoder.decode(piece)
  }

  ready(): Promise<boolean> {
    return until("it holds the lock", () => this.#said.startsWith("holds"))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill("SIGKILL")
    await this.#process.exited
  }
}
