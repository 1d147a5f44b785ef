/** A program as the allow-list knows it: by what its path really leads to, and by its name. */
export type AllowedProgram = { realPath: string; name: string }

export type Policy =
  | { kind: "everything" }
  /** Only these programs; the shell only if it is among them. */
  | { kind: "allow-list"; programs: readonly AllowedProgram[] }

/**
 * The name counts as well as the file: with busybox and its like, one file is many programs, and to
 * allow one is not to allow all.
 */
export function allowsProgram(policy: Policy, program: AllowedProgram): boolean {
  if (policy.kind === "everything") return true
  return policy.programs.some(
    (allowed) => allowed.realPath === program.realPath && allowed.name === program.name,
  )
}

const loaderVariables = /^(LD_|BUN_|DYLD_|PYTHON|PERL|RUBY|GIT_|BASH_FUNC_)/
const loaderNames = new Set(["PATH", "NODE_OPTIONS", "BASH_ENV", "ENV", "SHELLOPTS", "IFS", "PS4"])

/** Whether a variable changes which code a program runs, and so would undo an allow-list. */
export function changesWhatRuns(variable: string): boolean {
  return loaderVariables.test(variable) || loaderNames.has(variable)
}
