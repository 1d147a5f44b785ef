import { useSignal } from "@preact/signals"
import { z } from "zod"
import { request } from "../access/api.ts"
import { useConsole } from "../live/use-console.ts"
import { useTask } from "../live/use-task.ts"
import { addressOf } from "../place.ts"
import { useFormKey } from "./use-form-key.ts"

const Started = z.object({ execution_id: z.string() })

/** Starts a command, or a session of an agent. */
export function Start() {
  const { canExecute, greeting } = useConsole()
  const kind = useSignal<"command" | "agent">("command")
  if (greeting.value !== null && !canExecute.value) {
    return <p>Your token does not allow to start anything: it needs the scope `execute`.</p>
  }
  return (
    <>
      <h1>Start</h1>
      <fieldset class="choice">
        <legend class="unseen">What</legend>
        {(["command", "agent"] as const).map((one) => (
          <label key={one}>
            <input
              type="radio"
              name="kind"
              checked={kind.value === one}
              onChange={() => (kind.value = one)}
            />
            {one === "command" ? "A command" : "A session of Claude Code"}
          </label>
        ))}
      </fieldset>
      {kind.value === "command" ? <CommandForm /> : <AgentForm />}
    </>
  )
}

function CommandForm() {
  const task = useTask()
  const key = useFormKey()
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const given = fieldsOf(event)
    task.run(async () => {
      const name = given("name")
      const body = {
        command: given("command"),
        ...(given("cwd") === "" ? {} : { cwd: given("cwd") }),
        ...(name === "" ? {} : { labels: { name } }),
        ...(given("terminal") === "" ? {} : { terminal: { cols: 100, rows: 30 } }),
        ...(given("stdin") === "" ? {} : { stdin: "pipe" }),
        idempotency_key: key.current(),
      }
      const { execution_id: id } = Started.parse(await request("POST", "/executions", body))
      const part = given("terminal") === "" ? "output" : "terminal"
      location.hash = addressOf({ kind: "execution", id, line: null, part })
    })
  }
  return (
    <form class="fields" onSubmit={submit} onInput={key.changed}>
      <label for="command">Command line</label>
      <textarea id="command" name="command" rows={3} required spellcheck={false} class="code" />
      <p class="quiet">
        Runs directly; with pipes, variables or patterns in it, in the service's shell.
      </p>
      <WhereAndName />
      <label class="check">
        <input type="checkbox" name="stdin" /> It reads input
      </label>
      <label class="check">
        <input type="checkbox" name="terminal" /> On a terminal, for programs like editors
      </label>
      <Submit {...task} />
    </form>
  )
}

function AgentForm() {
  const { client } = useConsole()
  const task = useTask()
  const key = useFormKey()
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const given = fieldsOf(event)
    task.run(async () => {
      const [prompt, cwd, name, model, worktree] = [
        given("prompt"),
        given("cwd"),
        given("name"),
        given("model"),
        given("worktree"),
      ]
      const started = await client.call("agent.start", {
        prompt,
        ...(cwd === "" ? {} : { cwd }),
        ...(name === "" ? {} : { labels: { name } }),
        ...(model === "" ? {} : { model }),
        ...(worktree === "" ? {} : { worktree }),
        idempotency_key: key.current(),
      })
      const id = started.execution_id
      location.hash = addressOf({ kind: "execution", id, line: null, part: "session" })
    })
  }
  return (
    <form class="fields" onSubmit={submit} onInput={key.changed}>
      <label for="prompt">What it is to do</label>
      <textarea id="prompt" name="prompt" rows={6} required />
      <WhereAndName />
      <label for="model">Model</label>
      <input id="model" name="model" placeholder="the agent's own choice" autocomplete="off" />
      <label for="worktree">Git worktree of its own</label>
      <input id="worktree" name="worktree" placeholder="none" autocomplete="off" />
      <p class="quiet">What it asks for comes to the inbox, and waits there for an answer.</p>
      <Submit {...task} />
    </form>
  )
}

function WhereAndName() {
  return (
    <>
      <label for="cwd">Directory</label>
      <input
        id="cwd"
        name="cwd"
        class="code"
        placeholder="where the service was started"
        autocomplete="off"
        spellcheck={false}
      />
      <label for="name">Name</label>
      <input id="name" name="name" placeholder="none" autocomplete="off" />
    </>
  )
}

function Submit({ isBusy, failure }: { isBusy: boolean; failure: string | null }) {
  return (
    <>
      <button type="submit" disabled={isBusy}>
        Start
      </button>
      <p role="alert" class="failure">
        {failure}
      </p>
    </>
  )
}

function fieldsOf(event: SubmitEvent): (name: string) => string {
  const form = event.currentTarget
  const data = form instanceof HTMLFormElement ? new FormData(form) : new FormData()
  return (name) => {
    const value = data.get(name)
    return typeof value === "string" ? value.trim() : ""
  }
}
