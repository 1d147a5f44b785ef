import { terminalSession } from "../../scripts/terminal/session.ts"
import { claudeCodeFolder } from "./claude-code.ts"
import { MessagesApi, type ModelStep } from "./messages-api.ts"

/** What the picture of the README shows, with the real Claude Code. */
export async function picturedSession(executable: string): Promise<string[]> {
  let file_path = ""
  const steps: ModelStep[] = [
    { use: "Bash", input: { command: "sh test.sh", description: "Run the test" } },
    { use: "Read", input: { file_path } },
    { use: "Edit", input: { file_path, old_string: "$2 + 1))", new_string: "$2))" } },
    { use: "Bash", input: { command: "sh test.sh", description: "Run the test again" } },
    { say: "The sum was one too large. I fixed that, and the test passes." },
  ]
  await using api = new MessagesApi(({ uses }): ModelStep => {
    const step = steps[uses.length] ?? { say: "It is done." }
    if (!("use" in step) || !("file_path" in step.input)) return step
    return { ...step, input: { ...step.input, file_path } }
  })
  return await terminalSession(executable, {
    claudeFolder: claudeCodeFolder,
    apiUrl: api.url,
    inProject: (project) => {
      file_path = `${project}/sum.sh`
    },
  })
}
