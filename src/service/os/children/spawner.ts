import { closeSync, fchownSync, writeFileSync } from "node:fs"
import { executionMarker } from "../../../execution/id.ts"
import type { RunAs } from "../../../execution/run-as.ts"
import type { TerminalSize } from "../../../execution/spec.ts"
import type { Exit } from "../../../execution/state.ts"
import { errnoOf, isErrno, messageOf } from "../../../lib/errno.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import type { Child, Launch, SpawnFailure, StartFailure } from "../../keeper/ports.ts"
import { makePipe, makeSocketPair, type Pipe } from "../libc.ts"
import { identify } from "../proc.ts"
import { openWorkingDirectory } from "../programs/open-working-directory.ts"
import type { Reaper } from "../reaper.ts"
import { signalName } from "../signals.ts"
import { type Containment, type Enclosure, endAtOnce } from "../trees/containment.ts"
import { type CpuUse, childOf } from "./child.ts"
import { limitsForChildren } from "./limits-for-children.ts"
import { PseudoTerminal, TerminalInput } from "./pseudo-terminal.ts"
import { withRlimits } from "./rlimits.ts"
import { enlarge, handedTerminal, pipeStdio, type Stdio } from "./stdio.ts"

/** When memory runs out, the kernel should take a child, not the one who keeps the record. */
const childOomScore = "500"

/** Starts one child in its own session, on real pipes or on a terminal, inside its enclosure. */
export function spawnChild(
  launch: Launch,
  containment: Containment,
  reaper: Reaper,
): Result<Child, StartFailure> {
  const opened = openWorkingDirectory(launch)
  if (!opened.ok) return fail({ ...opened.failure, hasRun: false })
  using directory = opened.value
  let enclosure: Enclosure | null = null
  try {
    enclosure = containment.enclose(launch.executionId, launch.limits)
    const stdio = openStdio(launch)
    using parentsShare = new DisposableStack()
    parentsShare.defer(stdio.closeChildEnds)
    const started = start({ ...launch, cwd: directory.path }, enclosure, stdio, reaper)
    if (!started.ok) enclosure.remove()
    return started
  } catch (error) {
    enclosure?.remove()
    return fail({ ...failureOf(launch, error), hasRun: false })
  }
}

function failureOf({ argv }: Launch, error: unknown): SpawnFailure {
  // Bun has errors without a number too: no terminal to be had is one.
  return { errno: errnoOf(error) ?? "EIO", message: `${argv[0]}: ${messageOf(error)}` }
}

type NewStdio = Stdio & {
  forChild:
    | { stdin: number | "ignore"; stdout: number; stderr: number }
    | { stdio: [number, number, number, number] }
    | { terminal: Bun.TerminalOptions }
  started: (subprocess: Bun.Subprocess) => void
  closeChildEnds: () => void
}

function start(
  launch: Launch,
  enclosure: Enclosure,
  stdio: NewStdio,
  reaper: Reaper,
): Result<Child, StartFailure> {
  using limits = limitsForChildren()
  const { argv, argv0 } = withRlimits(launch, limits.openFiles)
  const env = { ...launch.env, [executionMarker]: launch.executionId }
  const subprocess = spawnOrClose(stdio, () =>
    Bun.spawn([...argv], {
      ...stdio.forChild,
      cwd: launch.cwd,
      env,
      detached: true,
      // Bun has the child give up all further groups, then change group and user.
      ...(launch.user === null ? {} : { uid: launch.user.uid, gid: launch.user.gid }),
      ...(argv0 === null ? {} : { argv0 }),
      ...(enclosure.cgroup === null ? {} : { cgroup: enclosure.cgroup }),
    }),
  )
  const exited = subprocess.exited.then(() => exitOf(subprocess))
  reaper.isMine(subprocess.pid, exited)
  try {
    return ok(supervisable(subprocess, exited, enclosure, stdio))
  } catch (error) {
    // It runs, but nobody could look after it.
    stdio.close()
    endAtOnce(subprocess.pid, enclosure)
    return fail({ ...failureOf(launch, error), hasRun: true })
  }
}

function supervisable(
  subprocess: Bun.Subprocess,
  exited: Promise<Exit>,
  enclosure: Enclosure,
  stdio: NewStdio,
): Child {
  stdio.started(subprocess)
  const leader = identify(subprocess.pid)
  preferAsVictim(leader.pid)
  const tree = enclosure.enter(leader)
  return childOf(leader, tree, enclosure, stdio, {
    exited,
    cpu: () => cpuOf(subprocess),
    hasBeenWaitedFor: () => subprocess.exitCode !== null || subprocess.signalCode !== null,
  })
}

function spawnOrClose<Spawned>(stdio: Stdio, spawn: () => Spawned): Spawned {
  try {
    return spawn()
  } catch (error) {
    stdio.close()
    throw error
  }
}

function openStdio(launch: Launch): NewStdio {
  if (launch.isAgentHost === true) return openSockets(launch)
  return launch.terminal === null ? openPipes(launch) : openTerminal(launch.terminal, launch.user)
}

/**
 * For the host of an agent. Another process of the same user can open a pipe by its name in /proc
 * and write to it, events or orders in somebody else's name; with a socket that fails (ENXIO).
 */
function openSockets({ user }: Launch): NewStdio {
  using made = new DisposableStack()
  const opened = (open: () => Pipe) => {
    const { readFd, writeFd } = open()
    made.defer(() => closeSync(readFd))
    made.defer(() => closeSync(writeFd))
    return { readFd, writeFd }
  }
  const orders = opened(makeSocketPair)
  const events = opened(makeSocketPair)
  const status = opened(makeSocketPair)
  const stderr = opened(makePipe)
  if (user !== null) fchownSync(stderr.writeFd, user.uid, user.gid)
  made.move() // all of them exist: from here on readers, writer and child's ends own them
  const outputs = [
    { stream: "stdout" as const, fd: events.readFd },
    { stream: "stderr" as const, fd: stderr.readFd },
  ]
  const input = { fd: orders.writeFd, isInsideLine: false }
  const childEnds: [number, number, number, number] = [
    orders.readFd,
    events.writeFd,
    stderr.writeFd,
    status.writeFd,
  ]
  return {
    ...pipeStdio({ outputs, input, status: { fd: status.readFd } }),
    forChild: { stdio: childEnds },
    started: () => undefined,
    closeChildEnds: () => {
      for (const fd of childEnds) closeSync(fd)
    },
  }
}

function openPipes(launch: Launch): NewStdio {
  using made = new DisposableStack()
  const pipe = () => {
    const { readFd, writeFd } = makePipe()
    made.defer(() => closeSync(readFd))
    made.defer(() => closeSync(writeFd))
    return { readFd, writeFd }
  }
  const stdout = pipe()
  const stderr = pipe()
  enlarge(stdout.readFd)
  const stdin = launch.stdin === "pipe" ? pipe() : null
  if (launch.user !== null) {
    const { uid, gid } = launch.user
    // Else `echo > /dev/stderr` fails: opening a pipe again asks who owns it. Both ends are one.
    for (const fd of [stdout.writeFd, stderr.writeFd]) fchownSync(fd, uid, gid)
    if (stdin !== null) fchownSync(stdin.readFd, uid, gid)
  }
  made.move() // all of them exist: from here on readers, writer and child's ends own them
  const outputs = [
    { stream: "stdout" as const, fd: stdout.readFd },
    { stream: "stderr" as const, fd: stderr.readFd },
  ]
  const input = stdin && { fd: stdin.writeFd, isInsideLine: false }
  return {
    ...pipeStdio({ outputs, input }),
    forChild: {
      stdin: stdin === null ? "ignore" : stdin.readFd,
      stdout: stdout.writeFd,
      stderr: stderr.writeFd,
    },
    started: () => undefined,
    closeChildEnds() {
      closeSync(stdout.writeFd)
      closeSync(stderr.writeFd)
      if (stdin !== null) closeSync(stdin.readFd)
    },
  }
}

function openTerminal(size: TerminalSize, user: RunAs | null): NewStdio {
  const terminal = new PseudoTerminal(size)
  const input = new TerminalInput(terminal)
  return {
    outputs: [{ stream: "stdout", output: terminal }],
    input,
    status: null,
    resize: (newSize) => terminal.resize(newSize),
    forChild: { terminal: terminal.options },
    started(subprocess) {
      if (subprocess.terminal === undefined) return
      terminal.attach(subprocess.terminal)
      if (user !== null) terminal.giveTo(user)
    },
    closeChildEnds: () => undefined,
    handOver: () => handedTerminal(terminal.handOver(), input),
    close: () => terminal[Symbol.dispose](),
  }
}

function exitOf(subprocess: Bun.Subprocess): Exit {
  const { exitCode, signalCode } = subprocess
  if (signalCode !== null) {
    const signal = typeof signalCode === "number" ? signalName(signalCode) : signalCode
    return { kind: "signaled", signal }
  }
  if (exitCode === null) throw new Error(`pid ${subprocess.pid} ended without a code or a signal`)
  return { kind: "exited", exitCode }
}

function preferAsVictim(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, childOomScore)
  } catch (error) {
    if (!isErrno(error, "ENOENT", "ESRCH", "EACCES", "EPERM")) throw error // gone, or not allowed
  }
}

function cpuOf(subprocess: Bun.Subprocess): CpuUse | null {
  const cpu = subprocess.resourceUsage()?.cpuTime
  if (cpu === undefined) return null
  return { cpuUserMs: Number(cpu.user) / 1000, cpuSystemMs: Number(cpu.system) / 1000 }
}
