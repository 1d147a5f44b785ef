import type { Service } from "./service.ts"
import { WorkFolder } from "./work-folder.ts"

/** Succeeds where its prompt says so; told to improve one, it runs what `improver.sh` says. */
const actor = `cat > told.txt
if [ -n "$WORK_IMPROVE" ]; then cp told.txt "$TOLD"; exec sh improver.sh; fi
echo 'trying very hard'
grep -q carefully told.txt && echo done > out.txt
true
`

/** Its front matter has comments, keys of others and an odd form. */
export function promptFile(folder: WorkFolder, more = ""): string {
  return `---
name: p   # a name
description: of somebody else
agent: "TOLD=${folder.path}/../told.txt sh actor.sh"
checks:
  - {run: "grep -q done out.txt", red: base}  # the one
${more}graduation: {ratio: 10, of: life}
---
# P

Write out.txt.

## Rules (Immutable)

Never lie.
`
}

export const writesBetter = `sed -i 's/^Write out.txt.$/Write out.txt carefully./' "$WORK_FILE"\n`

/** A folder with such a prompt, and an agent that improves it like this. */
export function improving(
  service: Service,
  improver: string,
  more = "",
  files: Record<string, string> = {},
): WorkFolder {
  const folder = new WorkFolder(service, { "actor.sh": actor, "improver.sh": improver, ...files })
  folder.write("p.md", promptFile(folder, more))
  return folder
}

/** The front matter. */
export const front = (text: string) => text.slice(0, text.indexOf("\n---\n", 4))
/** Below the front matter, without what is rendered. */
export const body = (text: string) =>
  text
    .slice(text.indexOf("\n---\n", 4) + 5)
    .replace(/<!-- cc-executor:begin[\s\S]*?cc-executor:end -->\n/g, "")
    .trimEnd()

type Run = {
  trials: { verdict: string }[]
  improvements: { kind: string; reason?: string; recovery?: string }[]
  stopped: string | null
}
export function runIn(document: Record<string, unknown>): Run {
  return JSON.parse(JSON.stringify(document["run"]))
}
