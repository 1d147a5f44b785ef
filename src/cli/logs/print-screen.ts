import type { Client } from "../../client/connect.ts"
import type { Context } from "../context.ts"
import { isLively } from "../terminal/colours.ts"

/** The lines of an execution's screen, down to the last with anything on it. */
export async function printScreen(
  context: Pick<Context, "stdout" | "stderr" | "env">,
  client: Client,
  id: string,
  isPlain: boolean,
): Promise<void> {
  const ask = (form: "plain" | "styled") => client.call("screen", { execution_id: id, form })
  const plain = await ask("plain")
  const count = plain.data.split("\n").findLastIndex((line) => line.trim() !== "") + 1
  const isColored = !isPlain && isLively(context.stdout, context.env)
  const { data } = isColored ? await ask("styled") : plain
  const lines = data.split("\n").slice(0, count)
  const text = lines.map((line) => `${line}\n`).join("")
  // The screen of an execution, as its output: colours and nothing else.
  await context.stdout.writeBytes(Buffer.from(text))
  if (!plain.complete) {
    await context.stderr.write(
      "cc-executor: output before this screen is missing: it may be wrong\n",
    )
  }
}
