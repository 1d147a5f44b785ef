import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** What the executables below say their version is. */
export const nextVersion = "9.9.9"

export type Built = Disposable & { path: string }

const root = join(import.meta.dir, "../..")

/** The same program, built as a later release of itself: what one would upgrade to. */
export function buildNextVersion(): Promise<Built> {
  return buildIn((folder) => compile(root, folder, nextVersion))
}

/** One place in the source, and what stands there in a later release. */
export type SourceChange = { file: string; from: string; to: string }

/** A later release whose source is another, in a few places. */
export function buildChangedVersion(changes: readonly SourceChange[]): Promise<Built> {
  return buildIn((folder) => {
    const source = join(folder, "source")
    for (const name of ["src", "package.json", "tsconfig.json"]) {
      cpSync(join(root, name), join(source, name), { recursive: true })
    }
    for (const { file, from, to } of changes) {
      const path = join(source, file)
      const text = readFileSync(path, "utf8")
      if (!text.includes(from)) throw new Error(`${file} has no ${from}`)
      writeFileSync(
        path,
        text.replace(from, () => to),
      )
    }
    return compile(source, folder, nextVersion)
  })
}

/** The program as an earlier commit of this repository has it. */
export function buildCommit(commit: string): Promise<Built> {
  return buildIn((folder) => {
    const source = join(folder, "source")
    mkdirSync(source)
    const { stdout } = git("archive", "--format=tar", commit)
    const unpacked = Bun.spawnSync(["tar", "-x", "-C", source], { stdin: stdout })
    if (unpacked.exitCode !== 0) throw new Error(`tar: ${unpacked.stderr.toString()}`)
    return compile(source, folder, `0.0.0-${commit.slice(0, 12)}`)
  })
}

/** The commits that made a line what it is, newest first; none where there is no history. */
export function commitsThatChanged(line: RegExp): string[] {
  const { exitCode, stdout } = git("log", "--format=%H", `-G${line.source}`, "--", "src")
  if (exitCode !== 0 || git("rev-parse", "--is-shallow-repository").stdout.includes("true"))
    return []
  return stdout.toString().split("\n").filter(Boolean)
}

function git(...args: string[]) {
  return Bun.spawnSync(["git", "-C", root, ...args], { stderr: "ignore" })
}

async function buildIn(build: (folder: string) => Promise<string>): Promise<Built> {
  const folder = mkdtempSync(join(tmpdir(), "cc-executor-next-"))
  using made = new DisposableStack()
  made.defer(() => rmSync(folder, { recursive: true }))
  const path = await build(folder)
  const kept = made.move()
  return { path, [Symbol.dispose]: () => kept.dispose() }
}

async function compile(source: string, folder: string, version: string): Promise<string> {
  const path = join(folder, "cc-executor")
  if (source !== root) symlinkSync(join(root, "node_modules"), join(source, "node_modules"))
  const flags = ["--compile", "--production", "--minify", "--bytecode", "--format=esm"]
  const define = ["--define", `BUILD_VERSION=${JSON.stringify(version)}`]
  const build = Bun.spawn(
    [process.execPath, "build", "src/main.ts", ...flags, ...define, `--outfile=${path}`],
    { cwd: source, stdin: "ignore", stdout: "ignore", stderr: "inherit" },
  )
  if ((await build.exited) !== 0) throw new Error(`version ${version} could not be built`)
  return path
}
