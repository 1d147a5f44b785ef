import * as fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A folder, and descriptors, for one test. */
export function scratchFolder() {
  const path = fs.mkdtempSync(join(tmpdir(), "cc-executor-log-"))
  const cleanup = new DisposableStack()
  cleanup.defer(() => fs.rmSync(path, { recursive: true }))

  const open = (file: string, flags: string | number): number => {
    const fd = fs.openSync(file, flags)
    cleanup.defer(() => fs.closeSync(fd))
    return fd
  }

  return {
    path,
    open,
    /** A named pipe with both ends open. */
    pipe() {
      const name = join(path, "pipe")
      run(["mkfifo", name])
      let readEnd = fs.openSync(name, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK)
      const writeEnd = open(name, fs.constants.O_WRONLY)
      cleanup.defer(() => fs.closeSync(readEnd))
      return {
        writeEnd,
        closeReadEnd: () => fs.closeSync(readEnd),
        reopenReadEnd() {
          readEnd = fs.openSync(name, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK)
        },
        readUntil: (enough: (text: string) => boolean) => readUntil(readEnd, enough),
      }
    },
    /** A disk of that size in place of the folder. */
    mountTmpfs(bytes: number) {
      run(["mount", "-t", "tmpfs", "-o", `size=${bytes}`, "tmpfs", path])
      return { [Symbol.dispose]: () => run(["umount", path]) }
    },
    [Symbol.dispose]: () => cleanup.dispose(),
  }
}

async function readUntil(fd: number, enough: (text: string) => boolean): Promise<string> {
  const decoder = new TextDecoder()
  const buffer = Buffer.alloc(65_536)
  let text = ""
  while (!enough(text)) {
    const bytes = readNow(fd, buffer)
    text += decoder.decode(buffer.subarray(0, bytes), { stream: true })
    if (bytes === 0) await new Promise((resume) => setImmediate(resume))
  }
  return text
}

function readNow(fd: number, buffer: Buffer): number {
  try {
    return fs.readSync(fd, buffer)
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EAGAIN") return 0
    throw error
  }
}

function run(command: string[]): void {
  const { success, stderr } = Bun.spawnSync(command)
  if (!success) throw new Error(`${command.join(" ")}: ${stderr.toString()}`)
}

/** Not everybody may, root in a container neither. */
export function canMount(): boolean {
  using folder = scratchFolder()
  try {
    folder.mountTmpfs(4096)[Symbol.dispose]()
    return true
  } catch {
    return false
  }
}
