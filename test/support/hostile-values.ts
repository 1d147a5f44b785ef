import { type Chance, oneOf } from "./chance.ts"

/** No execution's id begins with one of these: what belongs to others stays out of reach. */
const idsOfNobody = ["", "0", "189", "A".repeat(26), "__proto__", "../../etc", "0".repeat(65)]

const texts = [
  "",
  " ",
  "\0",
  "\r\n",
  "__proto__",
  "constructor",
  "toString",
  "\ud800",
  "\u{1f4a3}",
  "%s%n%x",
  "$(true)",
  "'",
  "../".repeat(40),
  "x".repeat(300),
  "y".repeat(70_000),
  "start",
  "tail",
  "tail:999999999",
  "tail:-1",
  "since:",
  "since:+275760-09-13T00:00:00.001Z",
  "since:0",
  "1.0.0.0.0.0",
  "1.zzzz.zzzzzz.zzzzzz.0.0",
  "1.0.3k.0.0.0.f09f98.f0",
  "binary",
  "base64",
  "$$$$",
] as const

const numbers = [
  0,
  -1,
  0.5,
  1e-320,
  65_536,
  2 ** 31,
  2 ** 53 - 1,
  2 ** 53,
  -(2 ** 53),
  1e308,
  1e21,
] as const

/** Any JSON value, and more often than not one that some reader somewhere has stumbled over. */
export function hostileValue(chance: Chance, depth = 0): unknown {
  switch (chance(depth > 3 ? 5 : 8)) {
    case 0:
      return null
    case 1:
      return chance(2) === 0
    case 2:
      return oneOf(chance, numbers)
    case 3:
      return oneOf(chance, texts)
    case 4:
      return chance(1000)
    case 5:
      return Array.from({ length: chance(4) }, () => hostileValue(chance, depth + 1))
    case 6:
      return deep(chance(300))
    default:
      return hostileObject(chance, depth)
  }
}

function hostileObject(chance: Chance, depth: number): object {
  const names = ["__proto__", "constructor", "toJSON", "then", "length", "id", "data"] as const
  const entries = Array.from(
    { length: chance(4) },
    () => `${JSON.stringify(oneOf(chance, names))}:${asJson(hostileValue(chance, depth + 1))}`,
  )
  // Parsed and not written as a literal, so that `__proto__` is a field like any other.
  return Object(JSON.parse(`{${entries.join(",")}}`))
}

function deep(depth: number): unknown {
  let value: unknown = 0
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { a: value }
  return value
}

function asJson(value: unknown): string {
  return JSON.stringify(value) ?? "null"
}

/** The same fields with a few of them changed, missing or too many. */
export function mutated(
  chance: Chance,
  fields: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const copy: Record<string, unknown> = { ...fields }
  for (let changes = 1 + chance(2); changes > 0; changes -= 1) {
    const name = oneOf(chance, ["extra", ...Object.keys(fields)])
    if (chance(5) === 0) delete copy[name]
    else if (name === "execution_id") copy[name] = oneOf(chance, ["", ...idsOfNobody, 7, null])
    else copy[name] = hostileValue(chance)
  }
  return copy
}
