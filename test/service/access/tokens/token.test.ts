import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import {
  isSecretOf,
  looksLikeToken,
  newToken,
  readToken,
  secretHash,
  tokenText,
} from "../../../../src/service/access/tokens/token.ts"

const byChance = (bytes: Uint8Array<ArrayBuffer>) => crypto.getRandomValues(bytes)

describe("a token", () => {
  test("has an id, a secret of 256 bits and a checksum, in one word", () => {
    expect(tokenText(newToken(byChance))).toMatch(/^cce_[a-z2-7]{10}_[a-z2-7]{58}$/)
  })

  test("uses all the chance it is given", () => {
    const secrets = Array.from({ length: 256 }, (_, bit) => {
      const one = (bytes: Uint8Array<ArrayBuffer>) => {
        if (bytes.length === 32) bytes[bit >> 3] = 1 << (bit & 7)
        return bytes
      }
      return newToken(one).secret
    })

    expect(new Set(secrets).size).toBe(256)
  })

  test("is read back as it was made", () => {
    const token = newToken(byChance)

    expect(readToken(tokenText(token))).toEqual(token)
  })

  test("of which any piece is missing is not whole", () => {
    const text = tokenText(newToken(byChance))

    for (let length = 0; length < text.length; length++) {
      expect(readToken(text.slice(0, length))).toBeNull()
      expect(readToken(text.slice(text.length - length))).toBeNull()
    }
    expect(looksLikeToken(text.slice(0, 20))).toBe(true)
  })

  test.each(["", " ", "cce_", "Bearer x", "cce__", `cce_${"a".repeat(10)}_${"a".repeat(58)}`])(
    "%j is none",
    (text) => {
      expect(readToken(text)).toBeNull()
    },
  )

  test("with a line break or spaces around it is none: a header never has them", () => {
    const text = tokenText(newToken(byChance))

    for (const around of [`${text}\n`, ` ${text}`, `${text} `, `\0${text}`, text.toUpperCase()]) {
      expect(readToken(around)).toBeNull()
    }
  })
})

describe("a secret", () => {
  test("is known by its hash alone", () => {
    const { secret } = newToken(byChance)

    expect(secretHash(secret)).toMatch(/^[0-9a-f]{64}$/)
    expect(isSecretOf(secret, secretHash(secret))).toBe(true)
    expect(isSecretOf(`${secret}a`, secretHash(secret))).toBe(false)
  })

  test("is nobody's where there is no hash to compare with", () => {
    expect(isSecretOf("anything", null)).toBe(false)
  })
})

describe("whatever is done to a token", () => {
  const token = fc
    .uint8Array({ minLength: 39, maxLength: 39 })
    .map((bytes) => newToken((wanted) => bytes.slice(0, wanted.length)))

  test("it is either not whole, or not that token", () => {
    const change = fc.record({ at: fc.nat(), by: fc.string({ unit: "binary", maxLength: 3 }) })
    fc.assert(
      fc.property(token, change, (made, { at, by }) => {
        const text = tokenText(made)
        const place = at % text.length
        const changed = text.slice(0, place) + by + text.slice(place + 1)
        fc.pre(changed !== text)

        const read = readToken(changed)

        const isIt = read?.id === made.id && isSecretOf(read.secret, secretHash(made.secret))
        expect(isIt).toBe(false)
      }),
    )
  })

  test("any text at all is answered without a throw", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(readToken(text)).toBeNull()
        expect(readToken(`cce_${text}`)).toBeNull()
      }),
    )
  })
})
