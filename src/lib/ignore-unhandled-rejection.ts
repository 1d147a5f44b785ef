/**
 * For a promise that its users may never await. Without this its rejection would end their
 * process; whoever does await it still gets the rejection.
 */
export function ignoreUnhandledRejection(promise: Promise<unknown>): void {
  promise.catch(() => undefined)
}
