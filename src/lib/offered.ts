/**
 * Marks a promise that is offered to users who may never look at it. Without this its rejection
 * would end their process; whoever does await it still gets the rejection.
 */
export function offered(promise: Promise<unknown>): void {
  promise.catch(() => undefined)
}
