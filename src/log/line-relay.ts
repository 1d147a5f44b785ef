import { z } from "zod"
import { tryParseJson } from "../lib/parse-json.ts"

export interface LineRelay {
  write(piece: Uint8Array): void
  end(): void
}

const longestRelayedLine = 1_048_576

/** Log lines pass as they are; anything else, say a runtime's dying words, is another matter. */
export function lineRelay(sink: {
  pass: (line: string) => void
  unstructured: (text: string) => void
}): LineRelay {
  const decoder = new TextDecoder()
  let partial = ""

  const take = (line: string) => {
    if (isLogLine(line)) sink.pass(`${line}\n`)
    else if (line.trim() !== "") sink.unstructured(line)
  }
  return {
    write(piece) {
      const lines = (partial + decoder.decode(piece, { stream: true })).split("\n")
      partial = lines.pop() ?? ""
      for (const line of lines) take(line)
      if (partial.length < longestRelayedLine) return
      take(partial)
      partial = ""
    },
    end() {
      take(partial + decoder.decode())
      partial = ""
    },
  }
}

const LogLine = z.object({ level: z.string(), time: z.string(), msg: z.string() })

function isLogLine(line: string): boolean {
  return line.startsWith("{") && LogLine.safeParse(tryParseJson(line)).success
}
