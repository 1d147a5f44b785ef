import { chmodSync } from "node:fs"
import { basename } from "node:path"
import { endService, type Finished, type OwnersHome } from "./owners-home.ts"
import { filesOf, owner, plant, RootsOwn, secret, stranger } from "./planted-state.ts"

/** Something planted in a copy of a state directory, and a command that somebody uses there. */
export type PlantedCase = { name: string; kind: string; line: readonly string[]; uid: number }

const sideBySide = 4

/** Tries the cases; answers what was wrong, in words. */
export async function faultsIn(home: OwnersHome, cases: readonly PlantedCase[]): Promise<string[]> {
  await using roots = new RootsOwn()
  const before = roots.look()
  const sound = new SoundDirectory(home)
  const faults: string[] = []
  await each(cases, async (planted) => {
    const { name, kind, line, uid } = planted
    using copy = home.copy()
    const { stateDir } = copy
    plant(stateDir, name, kind, roots)
    if (uid === stranger) chmodSync(stateDir, 0o777)
    const finished = await home.use(line, stateDir, uid)
    const left = uid === owner ? [] : filesOf(stateDir, uid)
    const found = [
      ...faultsOf(finished),
      ...(await sound.unexplained(finished, stateDir, planted)),
      ...left.map((path) => `left ${path}`),
      ...(roots.look() === before ? [] : [`changed root's own: ${roots.look()}`]),
    ]
    for (const fault of found) {
      faults.push(`${line.join(" ")} as ${uid} with ${kind} at ${name}: ${fault}`)
    }
    await endService(stateDir)
  })
  return faults
}

/** What is wrong with how a command behaved, whatever it found; empty where nothing is. */
export function faultsOf({ exitCode, stdout, stderr, isLate }: Finished): string[] {
  const said = stdout + stderr
  return [
    ...(isLate ? ["waited for more than two seconds"] : []),
    ...(said.includes(secret) ? ["printed root's secret"] : []),
    ...(/this is a bug|fault of cc-executor|\n\s+at /.test(said) ? [`crashed: ${said}`] : []),
    ...(exitCode !== 0 && said.trim() === "" ? ["failed without a word"] : []),
  ]
}

/** Where the words are about what the file says, and not about the file. */
const otherWords: readonly { of: RegExp; words: RegExp }[] = [
  { of: /schema\.json$/, words: /has version/ },
  {
    of: /^transcripts(?:\/|$)/,
    words: /transcript +broken at|transcript is damaged|is no longer kept/,
  },
]

/** Whether words tell whoever reads them which file is meant. */
export function isNamed(name: string, said: string): boolean {
  const areOthers = otherWords.some(({ of, words }) => of.test(name) && words.test(said))
  return areOthers || said.includes(basename(name))
}

type Sound = { exitCode: number; words: string }

/** What commands do where nothing was planted. */
class SoundDirectory {
  readonly #home: OwnersHome
  readonly #known = new Map<string, Promise<Sound>>()

  constructor(home: OwnersHome) {
    this.#home = home
  }

  /** A command does what it would have done without the plant, or names that. */
  async unexplained(
    finished: Finished,
    stateDir: string,
    { name, line, uid }: PlantedCase,
  ): Promise<string[]> {
    const said = finished.stdout + finished.stderr
    if (isNamed(name, said)) return []
    const sound = await this.#use(line, uid)
    if (finished.exitCode === 0 && sound.exitCode === 0) return []
    if (comparable(finished, stateDir) === sound.words) return []
    return [`does not say what is wrong: ${finished.exitCode}, ${said} (else ${sound.words})`]
  }

  #use(line: readonly string[], uid: number): Promise<Sound> {
    const key = `${uid} ${line.join(" ")}`
    const known = this.#known.get(key) ?? this.#try(line, uid)
    this.#known.set(key, known)
    return known
  }

  async #try(line: readonly string[], uid: number): Promise<Sound> {
    using copy = this.#home.copy()
    if (uid === stranger) chmodSync(copy.stateDir, 0o777)
    const finished = await this.#home.use(line, copy.stateDir, uid)
    await endService(copy.stateDir)
    return { exitCode: finished.exitCode, words: comparable(finished, copy.stateDir) }
  }
}

/** Without what differs each time. */
function comparable({ stdout, stderr }: Finished, stateDir: string): string {
  return (stdout + stderr).replaceAll(stateDir, "DIR").replace(/\d+(\.\d+)?/g, "0")
}

/** Runs a few at a time. */
export async function each<Value>(
  values: readonly Value[],
  run: (value: Value) => Promise<void>,
): Promise<void> {
  const rest = [...values]
  const work = async () => {
    for (let one = rest.shift(); one !== undefined; one = rest.shift()) await run(one)
  }
  await Promise.all(Array.from({ length: sideBySide }, work))
}
