import type { Way } from "../../../execution/notify-target.ts"
import { ok, type Result } from "../../../lib/result.ts"
import type { PendingDelivery } from "../outbox-port.ts"
import type { Post } from "./http-post.ts"
import type { Message } from "./message.ts"
import { readSource } from "./read-source.ts"
import { headerNames, signatureOf } from "./signature.ts"

type HttpWay = Exclude<Way, { kind: "command" }>

/** A message in the form that a target understands; a failure says which file is not right. */
export function postFor(
  way: HttpWay,
  message: Message,
  delivery: PendingDelivery,
  now: Date,
): Result<Post, string> {
  const url = readSource(way.url)
  if (!url.ok) return url
  const headers = {
    "Content-Type": "application/json",
    "User-Agent": "cc-executor",
    [headerNames.delivery]: delivery.id,
    [headerNames.event]: delivery.notice.kind,
    [headerNames.attempt]: String(delivery.attempts + 1),
  }
  switch (way.kind) {
    case "webhook": {
      const secret = readSource(way.secret)
      if (!secret.ok) return secret
      const body = JSON.stringify(message.json)
      const timestamp = String(Math.floor(now.getTime() / 1000))
      const signed = {
        ...headers,
        [headerNames.timestamp]: timestamp,
        [headerNames.signature]: signatureOf(secret.value, timestamp, body),
      }
      return ok({ url: url.value, headers: signed, body })
    }
    case "ntfy": {
      const token = way.token === null ? null : readSource(way.token)
      if (token?.ok === false) return token
      const authorization = token === null ? {} : { Authorization: `Bearer ${token.value}` }
      const { server, topic } = ntfyAddress(url.value)
      const body = JSON.stringify(ntfyBody(topic, message))
      return ok({ url: server, headers: { ...headers, ...authorization }, body })
    }
    case "slack":
      return ok({ url: url.value, headers, body: JSON.stringify({ text: slackText(message) }) })
  }
}

/** Its JSON goes to the server itself: a title of any language fits in, as in no header. */
function ntfyAddress(url: string): { server: string; topic: string } {
  const parsed = new URL(url)
  const parts = parsed.pathname.split("/").filter((part) => part !== "")
  const topic = decodeURIComponent(parts.pop() ?? "")
  return { server: `${parsed.origin}/${parts.join("/")}`, topic }
}

function ntfyBody(topic: string, { title, text, link, isUrgent }: Message) {
  return {
    topic,
    title,
    message: text,
    priority: isUrgent ? 4 : 3,
    ...(link === null ? {} : { click: link }),
  }
}

/** `<!channel>` in the name of an execution must not wake everybody. */
function slackText({ title, text, link }: Message): string {
  const words = `*${slackEscaped(title)}*\n${slackEscaped(text)}`
  return link === null ? words : `${words}\n<${slackEscaped(link)}|Open>`
}

function slackEscaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
}
