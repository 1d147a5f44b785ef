import { z } from "zod"

const CountedRequest = z.object({
  url: z.string(),
  server: z.enum(["project", "floor", "websocketd"]),
  encoding: z.enum(["utf8", "base64", "binary"]),
  lineCount: z.int(),
})
export type CountedRequest = z.infer<typeof CountedRequest>

const CountedRun = z.object({
  /** From the first packet of the connection to the end that the server told. */
  seconds: z.number(),
  lastLineSeconds: z.number(),
  clientCpuSeconds: z.number(),
  executionId: z.string().nullable(),
})
export type CountedRun = z.infer<typeof CountedRun>

export function countedRequest(text: string): CountedRequest {
  return CountedRequest.parse(JSON.parse(text))
}

export function countedRun(text: string): CountedRun {
  return CountedRun.parse(JSON.parse(text))
}
