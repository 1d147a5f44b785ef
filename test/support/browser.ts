import { temporaryFolder } from "./temporary-folder.ts"

const program = Bun.which("chromium")

/** Why no page can be opened here, or null. */
export const noBrowser = program === null ? "needs chromium" : null

// A browser of its own, that calls nobody but whom the page calls.
const flags = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-dev-shm-usage",
]

/** Opens a page in a real browser, until disposed; `names` are led to this machine. */
export function openPage(url: string, names: readonly string[] = []): AsyncDisposable {
  const profile = temporaryFolder()
  const browser = Bun.spawn({
    ...browserCommand(profile.path, names, ["--remote-debugging-port=0", url]),
    stdio: ["ignore", "ignore", "ignore"],
  })
  return {
    async [Symbol.asyncDispose]() {
      browser.kill("SIGTERM")
      await browser.exited
      profile[Symbol.dispose]()
    },
  }
}

/** What a browser shows of a page, as text with its tags. */
export async function pageText(url: string, names: readonly string[] = []): Promise<string> {
  using profile = temporaryFolder()
  const browser = Bun.spawn({
    ...browserCommand(profile.path, names, ["--dump-dom", url]),
    stdio: ["ignore", "pipe", "ignore"],
  })
  const text = await browser.stdout.text()
  await browser.exited
  return text
}

/** A browser that writes nowhere but into its profile: what it leaves behind goes with that. */
export function browserCommand(
  profile: string,
  names: readonly string[],
  args: readonly string[],
): { cmd: string[]; env: NodeJS.ProcessEnv } {
  const rules = names.map((name) => `MAP ${name} 127.0.0.1`).join(",")
  const resolving = rules === "" ? [] : [`--host-resolver-rules=${rules}`]
  const own = [...flags, `--user-data-dir=${profile}`, ...resolving]
  return {
    cmd: [program ?? "chromium", ...own, ...args],
    env: { ...process.env, TMPDIR: profile },
  }
}
