/** An expected failure is a value: the caller must look before it can use the success. */
export type Result<Value, Failure> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly failure: Failure }

export function ok<Value>(value: Value): Result<Value, never> {
  return { ok: true, value }
}

export function fail<Failure>(failure: Failure): Result<never, Failure> {
  return { ok: false, failure }
}
