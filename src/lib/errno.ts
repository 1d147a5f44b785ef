/** Whether an error is one of the named system errors, and so may be expected. */
export function isErrno(error: unknown, ...codes: string[]): boolean {
  const code = errnoOf(error)
  return code !== null && codes.includes(code)
}

export function errnoOf(error: unknown): string | null {
  if (!(error instanceof Error) || !("code" in error)) return null
  return typeof error.code === "string" ? error.code : null
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
