import { tryParseJson } from "../../lib/parse-json.ts"
import { fail, ok, type Result } from "../../lib/result.ts"
import { type Failure, failure } from "../../protocol/failure.ts"
import { errorMessage } from "../../protocol/json-rpc.ts"
import { policyViolation } from "../../protocol/session-limits.ts"
import type { Caller } from "../../service/access/caller.ts"
import type { OpenSession, Sessions } from "../../service/transports/socket/sessions.ts"
import { FramedSocket, type FrameListener, type RawSocket } from "./framed-socket.ts"
import type { NodeListenerOptions } from "./node-listener-options.ts"
import { PeerSession } from "./peer-session.ts"
import { callerOf, mostHelloBytes } from "./spoken-for.ts"

type End = { address: string; port: number }
type Ports = NodeListenerOptions & { sessions: Sessions }

/** From its first packet until it has said for whom it speaks. */
const helloMs = 10_000
/** For one that does not read why it is refused. */
const farewellMs = 1_000

/** A connection of another node: its certificate says who it is, and it says for whom it speaks. */
export class ArrivingNode implements FrameListener {
  readonly #socket: RawSocket
  readonly #end: End
  readonly #slot: Disposable
  readonly #ports: Ports
  readonly #framed: FramedSocket
  readonly #late: ReturnType<typeof setTimeout>
  #name: string | null = null
  #hasSpoken = false
  #session: OpenSession | null = null
  #isClosed = false

  constructor(socket: RawSocket, end: End, slot: Disposable, ports: Ports) {
    this.#socket = socket
    this.#end = end
    this.#slot = slot
    this.#ports = ports
    this.#framed = new FramedSocket(socket, this, mostHelloBytes)
    this.#late = setTimeout(() => this.#refuse(tooLate), helloMs)
  }

  get address(): string {
    return this.#end.address
  }

  /** The handshake is done: the certificate is one of the fleet's authority. */
  hasShown(name: string | null): void {
    const admitted = this.#admit(name)
    if (admitted.ok) this.#name = admitted.value
    else this.#refuse(admitted.failure)
  }

  hasFailed(why: string): void {
    this.#ports.refused({ ...this.#end, kind: "handshake", why })
    this.#socket.terminate()
  }

  received(bytes: Uint8Array): void {
    if (this.#name !== null) this.#framed.received(bytes)
  }

  drained(): void {
    if (this.#isClosed) return
    this.#framed.drained()
  }

  closed(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    clearTimeout(this.#late)
    this.#slot[Symbol.dispose]()
    if (this.#session !== null) this.#ports.sessions.close(this.#session, 1000)
  }

  // --- what it says -----------------------------------------------------------------------------

  text(text: string): void {
    if (this.#hasSpoken) void this.#heardRequest(text)
    else void this.#hello(text)
  }

  bytes(): void {
    this.parted("a node that asks sends no output")
  }

  heard(): void {
    if (this.#session !== null) this.#ports.sessions.heard(this.#session)
  }

  sent(): void {
    this.#session?.drained()
  }

  parted(why: string): void {
    this.#ports.log.debug({ node: this.#name, why }, "another node has left")
    this.#framed.terminate()
    this.closed()
  }

  async #hello(text: string): Promise<void> {
    this.#hasSpoken = true
    const admission = this.#ports.untilAdmitted()
    if (admission !== null) await admission
    clearTimeout(this.#late)
    const node = this.#name
    if (this.#isClosed || node === null) return
    const { members, settings, reportGarbage } = this.#ports
    const caller = callerOf(tryParseJson(text), node, () => members.isMember(node))
    if (!caller.ok) return this.#refuse(caller.failure, node)
    this.#framed.accept(settings.maxMessageBytes)
    reportGarbage(text.length)
    this.#session = this.#open(caller.value)
  }

  #open(caller: Caller): OpenSession | null {
    const { sessions, settings } = this.#ports
    const speak = (given: ConstructorParameters<typeof PeerSession>[0]) =>
      new PeerSession(given, settings.version)
    return sessions.open(this.#framed, caller, {
      speak: (given) => speak({ ...this.#ports, ...given }),
    })
  }

  async #heardRequest(text: string): Promise<void> {
    this.#ports.reportGarbage(text.length)
    await this.#session?.receive(text)
  }

  #admit(name: string | null): Result<string, Failure> {
    if (name === null) return fail(noName)
    if (name === this.#ports.identity.name) return fail(ownName(name))
    return this.#ports.members.isMember(name) ? ok(name) : fail(noMember(name))
  }

  #refuse(refused: Failure, node?: string): void {
    const { address } = this.#end
    const asked = { principal: null, address, via: "node", method: "connect", node }
    this.#ports.refusals.refused({ ...asked, failure: refused })
    this.#framed.send(errorMessage(null, refused))
    this.#framed.close(policyViolation, refused.reason)
    setTimeout(() => this.#framed.terminate(), farewellMs)
  }
}

const noName = failure("UNAUTHORIZED", "The certificate names nobody: a node's has its name.")
const tooLate = failure("STREAM_TIMEOUT", "It did not say in time for whom it speaks.")

function noMember(node: string): Failure {
  const message =
    `${JSON.stringify(node)} is not a node of this fleet: it has never joined, or was forgotten ` +
    "with `cc-executor node forget`."
  return failure("FORBIDDEN", message)
}

function ownName(node: string): Failure {
  const message =
    `${JSON.stringify(node)} is this node's own name: another one has a certificate for it. ` +
    "Give every node a certificate of its own."
  return failure("FORBIDDEN", message)
}
