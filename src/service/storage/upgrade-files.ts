import { writeFileSync } from "node:fs"
import type { z } from "zod"
import { checkOwnedFile, readOwned, removeOwned, replaceOwned } from "../../lib/owned-file.ts"
import { tryParseJson } from "../../lib/parse-json.ts"
import { isFileTrouble } from "../../lib/untrusted-file.ts"
import { UpgradeReport, UpgradeRequest } from "../../protocol/upgrade.ts"
import { statePathsIn } from "./state-paths.ts"

/** The two files by which an upgrade is asked for and followed; only their owner reads them. */
export class UpgradeFiles {
  readonly #requestPath: string
  readonly #reportPath: string

  constructor(stateDir: string) {
    const { upgradeRequest, upgradeReport } = statePathsIn(stateDir)
    this.#requestPath = upgradeRequest
    this.#reportPath = upgradeReport
  }

  /** Throws what keeps it from being asked. */
  ask(request: UpgradeRequest): void {
    replaceFile(this.#requestPath, request)
  }

  get isAsked(): boolean {
    return checkOwnedFile(this.#requestPath)
  }

  /**
   * What was asked; once answered it is gone. Null when nothing was, or nothing that can be read or
   * trusted: a service goes on with what it runs, whatever lies in its directory.
   */
  takeRequest(): UpgradeRequest | null {
    try {
      const request = readFile(this.#requestPath, UpgradeRequest)
      removeOwned(this.#requestPath)
      return request
    } catch (error) {
      if (!isFileTrouble(error)) throw error
      return null
    }
  }

  /** A service must not fail because it cannot tell; its log says what this would have. */
  report(report: UpgradeReport): void {
    try {
      replaceFile(this.#reportPath, report)
    } catch (error) {
      if (!isFileTrouble(error)) throw error
    }
  }

  /** The last word on an attempt; null when there is none yet. */
  reported(upgrade: string): UpgradeReport | null {
    const report = readFile(this.#reportPath, UpgradeReport)
    return report?.upgrade === upgrade ? report : null
  }
}

function replaceFile(path: string, value: UpgradeRequest | UpgradeReport): void {
  replaceOwned(path, (file) => writeFileSync(file, JSON.stringify(value)), { durable: false })
}

const mostBytes = 1024 * 1024

function readFile<Value>(path: string, schema: z.ZodType<Value>): Value | null {
  const text = readOwned(path, mostBytes)?.toString("utf8") ?? ""
  return schema.safeParse(tryParseJson(text)).data ?? null
}
