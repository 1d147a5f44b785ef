import type { DescriptorReserve } from "../../os/descriptor-reserve.ts"
import type { TranscriptReader } from "../ports.ts"

/** Who is here already reads on, however many have connected. */
export function readWith(reserve: DescriptorReserve, reader: TranscriptReader): TranscriptReader {
  return {
    read: (...asked) => reserve.lend(() => reader.read(...asked)),
    tail: (...asked) => reserve.lend(() => reader.tail(...asked)),
    line: (...asked) => reserve.lend(() => reader.line(...asked)),
    since: (...asked) => reserve.lend(() => reader.since(...asked)),
    locate: (...asked) => reserve.lend(() => reader.locate(...asked)),
    verify: (...asked) => reader.verify(...asked),
  }
}
