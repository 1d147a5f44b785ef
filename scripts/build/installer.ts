const emptyHome = "\nrelease_home=''\n"

/** The installer of a release knows where releases are: the address of the repository. */
export function withHome(script: string, home: string): string {
  if (home === "") return script
  if (!/^https:\/\/[\w.-]+(?::\d+)?(?:\/[\w.-]+)+$/.test(home)) {
    throw new Error(`CC_EXECUTOR_RELEASE_HOME is "${home}": give https://github.com/OWNER/NAME.`)
  }
  if (!script.includes(emptyHome)) throw new Error("install.sh has no empty release_home.")
  return script.replace(emptyHome, () => `\nrelease_home='${home}'\n`)
}
