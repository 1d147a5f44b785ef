import type { Fix } from "../../documents/review/fix-list.ts"

/** What a fixer is told that is to put one thing right. */
export function fixPrompt(fix: Fix, file: string, context: string): string {
  const { id, severity, file: about, place, issue, fix: todo, check } = fix
  const line = place === null ? "" : `, line ${place}`
  return [
    `Put one thing right that a review has found: fix ${id} of ${file}, and nothing else of it.`,
    "",
    `Severity: ${severity}`,
    ...(about === null ? [] : [`Where: ${about}${line}`]),
    "",
    "What is wrong:",
    "",
    issue.trim(),
    ...(todo.trim() === "" ? [] : ["", "What to do:", "", todo.trim()]),
    ...(context === "" ? [] : ["", "What you should know:", "", context]),
    "",
    "When you have finished, this command is run where you work, and must succeed:",
    "",
    `    ${check?.run ?? ""}`,
    "",
    "It was seen to fail before you began. Tests, what the command tests with, and the list of",
    "fixes must not change. Whether this is fixed is decided by that command, not by what you say.",
    "",
  ].join("\n")
}
