import { fail } from "../lib/result.ts"
import type { Table } from "./engine-port.ts"

/** A table of an engine that is connected later, if ever: until then it is not available. */
export function lateTable<Value>(
  find: () => Table<Value> | null,
): Pick<Table<Value>, "get" | "create" | "replace"> {
  const away = fail({ kind: "unavailable", why: "the engine is not connected" } as const)
  return {
    get: async (key) => (await find()?.get(key)) ?? away,
    create: async (key, value) => (await find()?.create(key, value)) ?? away,
    replace: async (key, value, revision) => (await find()?.replace(key, value, revision)) ?? away,
  }
}
