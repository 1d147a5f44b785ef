import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import {
  type CertificateSubject,
  subjectName,
} from "../../../../src/service/gateway/listen/subject-name.ts"

describe("a subject with a plain common name", () => {
  test.each(["alice", "alice@acme.example", "build-agent 7", "a", "x".repeat(64)])(
    "is called %p",
    (name) => {
      expect(subjectName({ O: "Acme", CN: name })).toBe(name)
    },
  )
})

describe("any other subject", () => {
  test.each<[CertificateSubject, string]>([
    [{ O: "Acme", OU: "Build" }, "O=Acme,OU=Build"],
    [{ CN: "alice, admin" }, "CN=alice\\2c; admin"],
    [{ CN: "O=Acme" }, "CN=O\\3d;Acme"],
    [{ CN: " alice" }, "CN= alice"],
    [{ CN: "alice\nroot" }, "CN=alice\\a;root"],
    [{ CN: "аlice" }, "CN=\\430;lice"], // Cyrillic
    [{ CN: ["alice", "root"] }, "CN=alice,CN=root"],
    [{ CN: "x".repeat(65) }, `CN=${"x".repeat(65)}`],
  ])("%p is called by all of it", (subject, name) => {
    expect(subjectName(subject)).toBe(name)
  })

  test("is nobody when it is empty", () => {
    expect(subjectName({})).toBeNull()
  })

  test("has a short name that shows, and no other subject has it", () => {
    const attribute = fc.constantFrom("CN", "O", "OU", "L")
    const value = fc.oneof(fc.string({ unit: "binary", maxLength: 300 }), fc.constant("alice"))
    const subjects = fc.dictionary(attribute, fc.oneof(value, fc.array(value, { minLength: 2 })), {
      minKeys: 1,
    })
    fc.assert(
      fc.property(subjects, subjects, (one, other) => {
        const name = subjectName(one)
        expect(name).toMatch(/^[\x20-\x7e]{1,200}$/)
        const isPlain = !name?.includes("=")
        const isSame = JSON.stringify(one) === JSON.stringify(other)
        if (!isPlain && !isSame) expect(subjectName(other)).not.toBe(name)
      }),
    )
  })
})
