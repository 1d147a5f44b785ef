import { z } from "zod"
import { ticketLifeMs } from "../../../access/tickets.ts"
import { type Endpoint, json } from "../endpoint.ts"

const Ticket = z.object({
  ticket: z.string().describe("goes into the URL: `/ws/mcp?ticket=…`"),
  expires_in: z.number().describe("seconds"),
})

export const postTickets: Endpoint = {
  method: "post",
  path: "/tickets",
  access: "caller",
  operationId: "ticket",
  summary: "Get a ticket for one WebSocket",
  description:
    "For browsers, which cannot send a header with a WebSocket. It opens one connection, on " +
    "behalf of whoever requested it, within a minute.",
  responses: { 200: { description: "The ticket.", content: json("Ticket", Ticket) } },
  refusals: [],
  respond(_, { issueTicket }, caller) {
    return Response.json({ ticket: issueTicket(caller), expires_in: ticketLifeMs / 1000 })
  },
}
