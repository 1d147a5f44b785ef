/**
 * Variables that change how Bun itself behaves: its engine's options, its debugger, what it writes
 * where. They are meant for programs that somebody runs with Bun, and not for this one, which only
 * happens to be made of it. Where Bun was installed is no such thing, and often set.
 */
const movesRuntime = /^BUN_(?!INSTALL$)/

/** The environment without them; null when there are none. */
export function withoutRuntimeVariables(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> | null {
  const all = Object.entries(env)
  const others = all.filter(([name]) => !movesRuntime.test(name))
  if (others.length === all.length) return null
  return Object.fromEntries(
    others.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}
