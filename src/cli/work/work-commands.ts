import { reviewCommands } from "./review-commands.ts"

/** What there is for prompts and task lists, in the order in which help shows it. */
export const workCommands = {
  "prompt new": {
    summary: "write a prompt that explains itself",
    load: async () => (await import("../commands/prompt/new.ts")).promptNewCommand,
  },
  "prompt check": {
    summary: "check whether a prompt has what it needs",
    load: async () => (await import("../commands/prompt/check.ts")).promptCheckCommand,
  },
  "prompt run": {
    summary: "try a prompt, and count only what was seen to work",
    load: async () => (await import("../commands/prompt/run.ts")).promptRunCommand,
  },
  "prompt compare": {
    summary: "try two prompts in turn, and say whether one is better",
    load: async () => (await import("../commands/prompt/compare.ts")).promptCompareCommand,
  },
  "prompt graduate": {
    summary: "move a prompt that has proved itself, or say what is missing",
    load: async () => (await import("../commands/prompt/graduate.ts")).promptGraduateCommand,
  },
  "tasks new": {
    summary: "write a task list that explains itself",
    load: async () => (await import("../commands/tasks/new.ts")).tasksNewCommand,
  },
  "tasks check": {
    summary: "check whether the tasks of a list can be shown done",
    load: async () => (await import("../commands/tasks/check.ts")).tasksCheckCommand,
  },
  "tasks run": {
    summary: "do the open tasks of a list, and tick what is verified",
    load: async () => (await import("../commands/tasks/run.ts")).tasksRunCommand,
  },
  "tasks status": {
    summary: "show what is known of every task of a list",
    load: async () => (await import("../commands/tasks/status.ts")).tasksStatusCommand,
  },
  "tasks accept": {
    summary: "accept a task that no command can check",
    load: async () => (await import("../commands/tasks/accept.ts")).tasksAcceptCommand,
  },
  "tasks report": {
    summary: "print what a reviewer wants to know of a list",
    load: async () => (await import("../commands/tasks/report.ts")).tasksReportCommand,
  },
  ...reviewCommands,
  adopt: {
    summary: "make a work of a prompt or task list of another program",
    load: async () => (await import("../commands/adopt.ts")).adoptCommand,
  },
  render: {
    summary: "write what a ledger shows into its file again",
    load: async () => (await import("../commands/render.ts")).renderCommand,
  },
  "suite run": {
    summary: "run the tests of a suite, and report what their output shows",
    load: async () => (await import("../commands/suite/run.ts")).suiteRunCommand,
  },
  badge: {
    summary: "draw the counts of a work as an SVG, from its ledger alone",
    load: async () => (await import("../commands/badge.ts")).badgeCommand,
  },
  "resume-work": {
    summary: "show what is open, what was last done, and what comes next",
    load: async () => (await import("../commands/resume-work.ts")).resumeWorkCommand,
  },
}
