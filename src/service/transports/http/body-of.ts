import { z } from "zod"

/** A native method's parameters as the body of a request whose path names the execution. */
export function bodyOf(params: z.ZodObject): z.ZodObject {
  const fields = Object.entries(params.shape).filter(([name]) => name !== "execution_id")
  return z.object(Object.fromEntries(fields))
}
