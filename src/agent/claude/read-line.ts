import { type JsonFault, parseJson } from "../../lib/parse-json.ts"
import { fail, ok, type Result } from "../../lib/result.ts"
import { type Fields, isFields } from "./fields.ts"

export const notJson = "no JSON object"

/** A line of Claude Code's; the failure completes the sentence "It is …". */
export function readLine(text: string): Result<Fields, typeof notJson | JsonFault> {
  const read = parseJson(text)
  if (read.ok) return isFields(read.value) ? ok(read.value) : fail(notJson)
  return fail(read.failure === "not JSON" ? notJson : read.failure)
}

/**
 * A session depends on questions, answers and results, however long they are. Claude Code does not
 * always say first what a line is (a result begins with figures), so all are held but the kinds
 * that it does say first and that nothing depends on.
 */
export function isToBeUnderstood(head: string): boolean {
  return !/^\{"type":"(?:assistant|user|stream_event|system)"/.test(head)
}
