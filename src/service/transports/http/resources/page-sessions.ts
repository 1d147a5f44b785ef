import { z } from "zod"
import { refuse } from "../answer.ts"
import { type Endpoint, json } from "../endpoint.ts"

const PageSession = z.object({
  secret: z.string().describe("goes where the token would: `Authorization: Bearer …`"),
  expires_at: z.iso.datetime(),
})

export const postSessions: Endpoint = {
  method: "post",
  path: "/sessions",
  access: "caller",
  operationId: "openSession",
  summary: "Exchange a token for the secret of a web page's session",
  description:
    "A page that was given a token keeps this in its place. It may do what the token may, ends " +
    "within twelve hours or with the token, and is listed and revoked with tokens.",
  responses: { 200: { description: "The secret.", content: json("PageSession", PageSession) } },
  refusals: ["INVALID_REQUEST", "FORBIDDEN", "RATE_LIMITED"],
  async respond(_, { pageSessions }, caller) {
    const opened = await pageSessions.open(caller)
    if (!opened.ok) return refuse(opened.failure)
    return Response.json({ secret: opened.value.secret, expires_at: opened.value.expiresAt })
  },
}

const Ended = z.object({ ended: z.boolean().describe("false for who has not come with one") })

export const deleteSessions: Endpoint = {
  method: "delete",
  path: "/sessions",
  access: "caller",
  operationId: "endSession",
  summary: "End the web page's session whose secret is sent",
  responses: { 200: { description: "Whether it was one.", content: json("EndedSession", Ended) } },
  refusals: [],
  async respond(_, { pageSessions }, caller) {
    const ended = await pageSessions.end(caller)
    return ended.ok ? Response.json({ ended: ended.value }) : refuse(ended.failure)
  },
}
