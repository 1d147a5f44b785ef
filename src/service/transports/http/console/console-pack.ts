import { existsSync } from "node:fs"
import { join } from "node:path"
import { z } from "zod"

const Place = z.object({ at: z.int(), length: z.int() })
const Index = z.array(
  z.object({ path: z.string(), type: z.string(), etag: z.string(), br: Place, gzip: Place }),
)

export type ConsoleFile = {
  type: string
  etag: string
  /** Compressed already; a part of the executable that is read when it is sent. */
  body: Record<"br" | "gzip", Blob>
}

/** Every file of the console, by its path; as `scripts/build/console.ts` has put them together. */
export type ConsoleFiles = ReadonlyMap<string, ConsoleFile>

/** Null where this program was started from its sources and the page was not built. */
export async function readConsolePack(): Promise<ConsoleFiles | null> {
  const pack = findPack()
  return pack === null ? null : filesIn(pack)
}

const mostIndexBytes = 64 * 1024

async function filesIn(pack: Blob): Promise<ConsoleFiles> {
  const head = await pack.slice(0, mostIndexBytes).text()
  const end = head.indexOf("\n")
  const bodiesAt = end + 1 // the index is ASCII
  const body = ({ at, length }: z.infer<typeof Place>) =>
    pack.slice(bodiesAt + at, bodiesAt + at + length)
  const index = Index.parse(JSON.parse(head.slice(0, end)))
  return new Map(
    index.map(({ path, type, etag, br, gzip }) => [
      path,
      { type, etag, body: { br: body(br), gzip: body(gzip) } },
    ]),
  )
}

function findPack(): Blob | null {
  const embedded = Bun.embeddedFiles.find((file) => "name" in file && isPack(file.name))
  if (embedded !== undefined) return embedded
  const built = join(import.meta.dir, "../../../../../dist/console.pack")
  return existsSync(built) ? Bun.file(built) : null
}

/** The compiler puts a hash into the name. */
function isPack(name: unknown): boolean {
  return typeof name === "string" && /(?:^|\/)console(?:-\w+)?\.pack$/.test(name)
}
