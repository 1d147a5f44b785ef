/** What there is for reviews, in the order in which help shows it. */
export const reviewCommands = {
  "review request": {
    summary: "write what is to be reviewed, by whom, and what they should know",
    load: async () => (await import("../commands/review/request.ts")).reviewRequestCommand,
  },
  "review run": {
    summary: "have a request answered by a reviewer",
    load: async () => (await import("../commands/review/run.ts")).reviewRunCommand,
  },
  "review fix": {
    summary: "put right what a review has found, and count only what was seen",
    load: async () => (await import("../commands/review/fix.ts")).reviewFixCommand,
  },
  "review status": {
    summary: "show what is known of every fix of a list",
    load: async () => (await import("../commands/review/status.ts")).reviewStatusCommand,
  },
  "review verification": {
    summary: "give a fix the command that shows that it is done",
    load: async () =>
      (await import("../commands/review/verification.ts")).reviewVerificationCommand,
  },
  "review usage": {
    summary: "run the usage checks of a request, as its reviewer",
    load: async () => (await import("../commands/review/usage.ts")).reviewUsageCommand,
  },
  "review check": {
    summary: "check the form of the two files of a review",
    load: async () => (await import("../commands/review/check.ts")).reviewCheckCommand,
  },
  "review submit": {
    summary: "write the two files of a review, if they are in order",
    load: async () => (await import("../commands/review/submit.ts")).reviewSubmitCommand,
  },
}
