import { describe, expect, test } from "bun:test"
import { rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { bearerToken } from "../../../src/cli/connect/bearer-token.ts"
import { serviceEnvironment } from "../../../src/cli/connect/service-environment.ts"
import { newToken, tokenText } from "../../../src/service/access/tokens/token.ts"
import { temporaryFolder } from "../../support/temporary-folder.ts"

const token = () => tokenText(newToken((bytes) => crypto.getRandomValues(bytes)))

describe("the token for a remote service", () => {
  test("is looked for in the option's file, the variable, the variable's file", () => {
    using folder = temporaryFolder()
    const [ofOption, ofVariable, ofFile] = [token(), token(), token()]
    const [path, other] = [join(folder.path, "a"), join(folder.path, "b")]
    writeFileSync(path, `${ofOption}\n`)
    writeFileSync(other, ofFile)
    const env = { CC_EXECUTOR_TOKEN: ofVariable, CC_EXECUTOR_TOKEN_FILE: other }

    expect(bearerToken(env, path)?.read()).toBe(ofOption)
    expect(bearerToken(env, undefined)?.read()).toBe(ofVariable)
    expect(bearerToken({ ...env, CC_EXECUTOR_TOKEN: "" }, undefined)?.read()).toBe(ofFile)
    expect(bearerToken({}, undefined)).toBeNull()
  })

  test("is read again from its file, and kept where that is not possible", () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "token")
    const [first, second] = [token(), token()]
    writeFileSync(path, first)
    const bearer = bearerToken({}, path)
    expect(bearer?.read()).toBe(first)

    writeFileSync(path, second)
    expect(bearer?.read()).toBe(second)
    writeFileSync(path, "")
    expect(bearer?.read()).toBe(second)
    rmSync(path)
    expect(bearer?.read()).toBe(second)
  })

  test("may be of another kind, for what stands before the service", () => {
    expect(bearerToken({ CC_EXECUTOR_TOKEN: "ey.J0.x" }, undefined)?.read()).toBe("ey.J0.x")
  })

  test.each([
    ["half of one", token().slice(0, 40), "incomplete or mistyped"],
    ["two words", "one two", "this is not a token"],
    ["a whole file of something", "x".repeat(5_000), "this is not a token"],
    ["a line break", "\n\n", "this is not a token"],
  ])("is refused here where it is %s, without a word of it", (_, text, message) => {
    const read = () => bearerToken({ CC_EXECUTOR_TOKEN: text }, undefined)?.read()

    expect(read).toThrow(message)
    expect(read).toThrow("CC_EXECUTOR_TOKEN")
    expect(read).not.toThrow(text.slice(0, 20))
  })

  test("from a file that is not there names it", () => {
    expect(() => bearerToken({}, "/no/such/file")?.read()).toThrow(
      "--token-file /no/such/file: the file cannot be read (ENOENT).",
    )
  })

  test("is no part of the environment of a service that is started", () => {
    const env = { CC_EXECUTOR_TOKEN: "a", CC_EXECUTOR_TOKEN_FILE: "b", CC_EXECUTOR_URL: "c" }

    expect(serviceEnvironment({ ...env, CC_EXECUTOR_GRACE: "1s" })).toEqual({
      CC_EXECUTOR_GRACE: "1s",
    })
  })
})
