/** What an execution is called besides its id: its label `name`. Null where it has none. */
export function nameOf(labels: Readonly<Record<string, string>>): string | null {
  const name = labels["name"]
  return name === undefined || name === "" ? null : name
}
