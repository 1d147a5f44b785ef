import type { ExecutionSpec } from "./spec.ts"

/** What the service itself has open. Seen without any execution: 15. */
export const serviceDescriptors = 16

/**
 * Descriptors that starts leave alone. Looks at /proc, ends, receipts, the audit trail and the
 * start of another gateway need some for a moment, as a start itself does.
 */
export const reservedDescriptors = 24

/** Two pipes, the process, the transcript. `test/end-to-end/descriptors.test.ts` counts them. */
const onPipes = 4

/** On a terminal: the process, the transcript, and what Bun holds of the terminal. */
export const mostPerExecution = 7

/** How many descriptors an execution takes, from its start to its end. */
export function descriptorsOf({ stdin, terminal }: Wanted): number {
  if (terminal !== null && terminal !== undefined) return mostPerExecution
  return stdin === "pipe" ? onPipes + 1 : onPipes
}

type Wanted = Pick<ExecutionSpec, "stdin"> & { terminal?: object | null | undefined }

/** How many the service needs to run so many executions at once, whatever they are. */
export function descriptorsFor(executions: number): number {
  return serviceDescriptors + reservedDescriptors + executions * mostPerExecution
}
