import { failure } from "../../../../protocol/failure.ts"
import { refuse, tooEarly } from "../answer.ts"
import { connectionOf, type HttpContext } from "../ports.ts"
import { type ConsoleFile, type ConsoleFiles, readConsolePack } from "./console-pack.ts"

/** Nothing but what is served from here runs in the page, and it talks to nobody else. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types dompurify",
].join("; ")

const pageHeaders = {
  "Content-Security-Policy": policy,
  "Cross-Origin-Opener-Policy": "same-origin",
  "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}

// Its files are named by their hash; which of them it is made of may be another with every version.
const caching = { page: "no-cache", file: "public, max-age=31536000, immutable" }

/** The page at `/` and its files: without data, so anybody may have them. */
export function consoleRoute(): (c: HttpContext) => Promise<Response> {
  let files: Promise<ConsoleFiles | null> | null = null
  return async (c) => {
    const connection = connectionOf(c)
    c.set("asked", { principal: null, method: "console" })
    if ((await connection.hasArrived?.()) === false) return refuse(tooEarly)
    try {
      files ??= readConsolePack()
      const known = await files
      if (known === null) return refuse(notBuilt)
      const file = known.get(c.req.path)
      return file === undefined ? refuse(noSuchFile(c.req.path)) : await respond(c, file)
    } finally {
      connection.hasAnswered?.()
    }
  }
}

async function respond(c: HttpContext, file: ConsoleFile): Promise<Response> {
  const isPage = c.req.path === "/"
  const etag = `"${file.etag}"`
  const headers = {
    ...(isPage ? pageHeaders : {}),
    "Cache-Control": isPage ? caching.page : caching.file,
    ETag: etag,
    Vary: "Accept-Encoding",
  }
  if (c.req.header("if-none-match") === etag) return new Response(null, { status: 304, headers })
  const encoding = chosenEncoding(c.req.header("accept-encoding") ?? "")
  const typed = { ...headers, "Content-Type": file.type }
  if (encoding === null) {
    const bytes = Bun.gunzipSync(await file.body.gzip.bytes())
    return new Response(bytes, { headers: typed })
  }
  const body = await file.body[encoding].bytes()
  return new Response(body, { headers: { ...typed, "Content-Encoding": encoding } })
}

/** Null for who takes neither, or gives one a weight of nothing. */
function chosenEncoding(accepted: string): "br" | "gzip" | null {
  const taken = new Set(
    accepted
      .toLowerCase()
      .split(",")
      .map((part) => part.split(";").map((word) => word.trim()))
      .flatMap(([name, weight]) => (/^q=0(?:\.0*)?$/.test(weight ?? "") ? [] : (name ?? []))),
  )
  if (taken.has("br")) return "br"
  return taken.has("gzip") ? "gzip" : null
}

const notBuilt = failure(
  "METHOD_NOT_FOUND",
  "The console has not been built: start the service with `npm start`, or build it first with " +
    "`bun scripts/build-console.ts`.",
)

function noSuchFile(path: string) {
  return failure("METHOD_NOT_FOUND", `The console has no file ${path}: reload the page.`)
}
