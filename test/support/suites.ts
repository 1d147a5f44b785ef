/** What a suite's file says, and what its document tells. */

export function suiteFile(categories: Record<string, unknown>): string {
  return JSON.stringify({ task_list_id: "S1", categories }, null, 2)
}

type Tested = { id: string; result: string; reasons: string[]; execution_id: string | null }

export function testsIn(document: Record<string, unknown>): Tested[] {
  return JSON.parse(JSON.stringify(document["tests"]))
}

export function resultsIn(document: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(testsIn(document).map(({ id, result }) => [id, result]))
}
