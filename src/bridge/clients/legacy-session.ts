import {
  type AnswerMessage,
  canceledKey,
  type Message,
  type NotificationMessage,
  progressOf,
  progressTokenOf,
  type RequestMessage,
} from "../messages/message.ts"
import type { BridgeTarget, ResumeState } from "../ports.ts"
import { EventStream } from "./event-stream.ts"
import type { ClientsSettings } from "./listening.ts"
import { PostAnswer, type PostAnswerSettings } from "./post-answer.ts"

type Post = { answer: PostAnswer; requests: Map<string, string | null> }

const mostBacklog = 100

/** A client of the legacy era over HTTP, and its target: which message goes into which stream. */
export class LegacySession {
  readonly #settings: ClientsSettings
  readonly #target: BridgeTarget
  readonly #posts = new Set<Post>()
  #events: EventStream | null = null
  /** Messages of the target that no stream was open for. */
  #backlog: Message[] = []
  #usedAtMs = performance.now()

  constructor(settings: ClientsSettings, resumeState: ResumeState) {
    this.#settings = settings
    this.#target = settings.openTarget((message) => this.#deliver(message), resumeState)
  }

  get resumeState(): ResumeState {
    return this.#target.resumeState
  }

  /** Since when it could be suspended; null while a request is pending. */
  get idleSinceMs(): number | null {
    const isBusy = this.#posts.size > 0 || this.#events !== null || this.#target.requests.size > 0
    return isBusy ? null : this.#usedAtMs
  }

  /** Whether an answer to a request with this id is still waited for. */
  isUnderWay({ key }: RequestMessage): boolean {
    return this.#posts.values().some(({ requests }) => requests.has(key))
  }

  /** Answers the requests of one POST, in a stream of their own or in JSON. */
  async answer(
    messages: readonly RequestMessage[],
    options: Pick<PostAnswerSettings, "signal" | "mayStream" | "headers">,
  ): Promise<Response> {
    const post: Post = {
      requests: new Map(messages.map((message) => [message.key, progressTokenOf(message)])),
      answer: new PostAnswer({
        expected: messages.length,
        most: this.#settings.limits.bufferedBytes,
        statusOf: () => 200,
        // In this era leaving is no cancellation, but nobody is there for the answer.
        onGone: () => this.#posts.delete(post),
        ...options,
      }),
    }
    this.#posts.add(post)
    this.#usedAtMs = performance.now()
    for (const message of messages) await this.#target.send(message)
    return post.answer.response
  }

  /** Notifications, and answers to what the target asked. */
  async take(message: NotificationMessage | AnswerMessage): Promise<void> {
    this.#usedAtMs = performance.now()
    await this.#target.send(message)
    const canceled = message.kind === "notification" ? canceledKey(message) : null
    if (canceled === null) return
    for (const post of this.#posts) {
      if (!post.requests.has(canceled) || post.requests.size > 1) continue
      this.#posts.delete(post)
      post.answer.abandon()
    }
  }

  /** Opens the stream for messages that answer no request; there is one at a time. */
  async listen(): Promise<Response> {
    this.#events?.end()
    const events = new EventStream(this.#settings.limits.bufferedBytes, () => {
      if (this.#events !== events) return
      this.#events = null
      this.#usedAtMs = performance.now()
    })
    this.#events = events
    for (const { text } of this.#backlog.splice(0)) await events.send(text)
    return events.response({})
  }

  async close(how: "ended" | "suspended"): Promise<void> {
    this.#events?.end()
    for (const { answer } of this.#posts) answer.abandon()
    await this.#target.close(how)
  }

  async #deliver(message: Message): Promise<void> {
    this.#usedAtMs = performance.now()
    if (message.kind === "answer") return this.#deliverAnswer(message)
    const token = message.kind === "notification" ? progressOf(message) : null
    const posts = [...this.#posts].filter(({ answer }) => answer.takesMore)
    const isOwn = ({ requests }: Post) => [...requests.values()].includes(token)
    const own = token === null ? undefined : posts.findLast(isOwn)
    if (own !== undefined) return own.answer.deliver(message)
    const newest = posts.at(-1)
    // A request of the target's, or its log, most likely belongs to what it works on.
    const isAbout = message.kind === "request" || message.method === "notifications/message"
    if (isAbout && newest !== undefined) return newest.answer.deliver(message)
    if (this.#events !== null) return this.#events.send(message.text)
    if (newest !== undefined) return newest.answer.deliver(message)
    this.#keep(message)
  }

  async #deliverAnswer(message: AnswerMessage): Promise<void> {
    const { key } = message
    const post = this.#posts.values().find(({ requests }) => key !== null && requests.has(key))
    if (post === undefined || key === null) {
      this.#settings.log.debug({}, "answer to a client that has stopped waiting")
      return
    }
    post.requests.delete(key)
    if (post.requests.size === 0) this.#posts.delete(post)
    await post.answer.deliver(message)
  }

  #keep(message: Message): void {
    this.#backlog.push(message)
    if (this.#backlog.length <= mostBacklog) return
    this.#backlog.shift()
    this.#settings.log.warn({ kept: mostBacklog }, "message dropped: no client is listening")
  }
}
