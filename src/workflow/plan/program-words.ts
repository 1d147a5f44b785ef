/** What words mean at the beginning of a command, as far as it decides what its others name. */

/** They take files and folders of tests, or find them by themselves. */
export const testRunners: ReadonlySet<string> = new Set(
  [
    ["pytest", "py.test", "nose2", "unittest"],
    ["jest", "vitest", "mocha", "ava", "tap"],
    ["rspec", "phpunit", "bats", "prove", "ctest"],
  ].flat(),
)

/** They take the name of something that is to be done. */
export const taskRunners: ReadonlySet<string> = new Set(
  [
    ["npm", "npx", "yarn", "pnpm", "bun"],
    ["make", "just", "rake", "cargo", "go", "gradle", "gradlew", "mvn", "tox", "nox"],
  ].flat(),
)

/** What comes after them is a command. */
export const prefixes: ReadonlySet<string> = new Set(
  [
    ["env", "timeout", "nice", "time", "command", "exec", "nohup", "stdbuf", "sudo", "xargs"],
    ["if", "then", "else", "elif", "while", "until", "do", "!", "{", "("],
  ].flat(),
)

const shells: ReadonlySet<string> = new Set(["sh", "bash", "dash", "zsh", "ksh", "source", "."])
const languages: ReadonlySet<string> = new Set(
  [["node", "nodejs", "deno", "ruby", "perl", "php", "lua", "tsx", "ts-node"]].flat(),
)

/** They run the file that is their first argument. */
export function isInterpreter(name: string): boolean {
  return shells.has(name) || languages.has(name) || /^python[\d.]*$/.test(name)
}

/** Files by which a program finds out what to test, or how. */
export function settingsOf(runner: string): readonly string[] {
  return settings.get(runner) ?? []
}

const ofPython = ["conftest.py", "pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml"]
const ofNode = ["package.json"]
const settings: ReadonlyMap<string, readonly string[]> = new Map([
  ["pytest", ofPython],
  ["py.test", ofPython],
  ["tox", ofPython],
  ["nox", [...ofPython, "noxfile.py"]],
  ["make", ["Makefile", "makefile", "GNUmakefile"]],
  ["npm", ofNode],
  ["npx", ofNode],
  ["yarn", ofNode],
  ["pnpm", ofNode],
  ["bun", [...ofNode, "bunfig.toml"]],
  ["jest", ofNode],
  ["vitest", ofNode],
  ["mocha", ofNode],
  ["just", ["justfile", "Justfile"]],
  ["rake", ["Rakefile"]],
])
