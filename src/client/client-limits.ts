export type ClientLimits = {
  /** Output one execution may have waiting here; past it the client detaches until it is taken. */
  queueBytes: number
  /** From the attempt to connect to the greeting. */
  greetingMs: number
  /** Between two looks at an execution whose output is not taken, to learn of its end. */
  statusEveryMs: number
  /** Silence after which the server is asked for a sign of life. */
  silenceMs: number
  /** From that question to the conclusion that nobody is there. */
  silenceAnswerMs: number
}

export const defaultLimits: ClientLimits = {
  queueBytes: 4_194_304,
  greetingMs: 10_000,
  statusEveryMs: 1_000,
  silenceMs: 30_000,
  silenceAnswerMs: 10_000,
}
