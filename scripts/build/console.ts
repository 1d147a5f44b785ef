import { mkdir, rename } from "node:fs/promises"
import { dirname, join, relative } from "node:path"
import { brotliCompressSync, constants, gzipSync } from "node:zlib"
import { root } from "../steps.ts"

/** The page at `/`, as one file that the service answers from; and what it was made of. */
export type ConsoleBuild = { pack: Uint8Array<ArrayBuffer>; sources: string[] }

type Asset = { path: string; type: string; bytes: Uint8Array }

const folder = join(root, "src", "console")

/** Where a service that runs from source finds it. */
const builtConsole = join(root, "dist", "console.pack")

/** Built each time: it takes a tenth of a second, and nobody has to think of it. */
export async function writeConsole(): Promise<void> {
  const { pack } = await buildConsole()
  await mkdir(dirname(builtConsole), { recursive: true })
  const unfinished = `${builtConsole}.${process.pid}`
  await Bun.write(unfinished, pack)
  await rename(unfinished, builtConsole)
}

/** The same sources give the same bytes. */
export async function buildConsole(): Promise<ConsoleBuild> {
  const built = await Bun.build({
    entrypoints: [join(folder, "main.tsx"), join(folder, "style.css")],
    root: folder,
    target: "browser",
    format: "esm",
    splitting: true,
    minify: true,
    define: { "process.env.NODE_ENV": '"production"' },
    naming: { entry: "[name]-[hash].[ext]", chunk: "part-[hash].[ext]" },
    metafile: true,
    plugins: [withoutJsonSchemas],
  })
  const assets = await Promise.all(built.outputs.map(assetOf))
  const icon = await hashedIcon()
  const page = await pageOf([...assets, icon])
  const sources = Object.values(built.metafile?.outputs ?? {}).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) =>
      bytesInOutput > 0 ? [path] : [],
    ),
  )
  const inOrder = [page, ...assets, icon].toSorted((one, other) => (one.path < other.path ? -1 : 1))
  return { pack: packOf(inOrder), sources: [...new Set(sources)].map(fromRoot).toSorted() }
}

/**
 * The page reads with schemas and never writes them down: what makes JSON Schemas of them is a
 * tenth of all that it would have to load.
 */
const withoutJsonSchemas: Bun.BunPlugin = {
  name: "without JSON Schemas",
  setup(build) {
    const writers = /\/zod\/v4\/core\/(?:to-json-schema|json-schema-processors)\.js$/
    build.onLoad({ filter: writers }, async ({ path }) => {
      const source = await Bun.file(path).text()
      const names = [...source.matchAll(/^export (?:const|function|class) (\w+)/gm)]
      const stubs = names.map(([, name]) => `export const ${name} = () => nothing`)
      return { contents: `const nothing = () => undefined\n${stubs.join("\n")}`, loader: "js" }
    })
  },
}

async function assetOf(output: Bun.BuildArtifact): Promise<Asset> {
  const type = output.path.endsWith(".css") ? "text/css" : "text/javascript"
  const path = `/console/${output.path.replace(/^\.\//, "")}`
  return { path, type: `${type}; charset=utf-8`, bytes: new Uint8Array(await output.arrayBuffer()) }
}

async function hashedIcon(): Promise<Asset> {
  const bytes = await Bun.file(join(folder, "icon.svg")).bytes()
  const hash = new Bun.CryptoHasher("sha256").update(bytes).digest("hex").slice(0, 8)
  return { path: `/console/icon-${hash}.svg`, type: "image/svg+xml", bytes }
}

/** The page names what it is made of by hashed names, so these may be kept for ever. */
async function pageOf(assets: readonly Asset[]): Promise<Asset> {
  const template = await Bun.file(join(folder, "page.html")).text()
  const html = template.replaceAll(/\{(main|style|icon)\}/g, (_, name: string) => {
    const asset = assets.find(({ path }) => path.startsWith(`/console/${name}-`))
    if (asset === undefined) throw new Error(`The console has no ${name}.`)
    return asset.path
  })
  return { path: "/", type: "text/html; charset=utf-8", bytes: new TextEncoder().encode(html) }
}

/** A line of JSON that says what is where behind it, then everything in both of its forms. */
function packOf(assets: readonly Asset[]): Uint8Array<ArrayBuffer> {
  const bodies: Uint8Array[] = []
  let at = 0
  const place = (bytes: Uint8Array) => {
    bodies.push(bytes)
    at += bytes.length
    return { at: at - bytes.length, length: bytes.length }
  }
  const index = assets.map(({ path, type, bytes }) => ({
    path,
    type,
    etag: new Bun.CryptoHasher("sha256").update(bytes).digest("hex").slice(0, 16),
    br: place(brotliCompressSync(bytes, brotliBest(bytes))),
    gzip: place(gzipSync(bytes, { level: 9 })),
  }))
  return new Uint8Array(Buffer.concat([Buffer.from(`${JSON.stringify(index)}\n`), ...bodies]))
}

function brotliBest(bytes: Uint8Array) {
  const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT, BROTLI_MAX_QUALITY } = constants
  const params = {
    [BROTLI_PARAM_QUALITY]: BROTLI_MAX_QUALITY,
    [BROTLI_PARAM_SIZE_HINT]: bytes.length,
  }
  return { params }
}

/** As the metafile of the program has them. */
function fromRoot(source: string): string {
  return relative(root, join(process.cwd(), source))
}
