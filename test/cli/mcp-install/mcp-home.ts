import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { dispatch } from "../../../src/cli/dispatch.ts"
import { newToken, tokenText } from "../../../src/service/access/tokens/token.ts"
import { temporaryFolder } from "../../support/temporary-folder.ts"
import { fakeContext } from "../fake-context.ts"

const self = ["/bin/bun", "/src/main.ts"]
/** What a client is told to start in these tests. */
export const stdio = { command: "/bin/bun", args: ["/src/main.ts", "mcp"] }
export const token = tokenText(newToken((bytes) => crypto.getRandomValues(bytes)))

/** `mcp install` in a home directory of its own. */
export function mcpHome() {
  const folder = temporaryFolder()
  const file = (...parts: string[]) => join(folder.path, ...parts)
  return {
    ...folder,
    file,
    put(text: string, ...parts: string[]): string {
      mkdirSync(dirname(file(...parts)), { recursive: true })
      writeFileSync(file(...parts), text)
      return file(...parts)
    },
    async install(argv: readonly string[], env: Record<string, string> = {}) {
      const context = fakeContext({ home: folder.path, cwd: folder.path, self, env })
      const exitCode = await dispatch(context, ["mcp", "install", ...argv])
      return { exitCode, stdout: context.stdout.text(), stderr: context.stderr.text() }
    },
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  }
}
