/** What a model is told about this server before it uses it. */
export const instructions = `\
cc-executor runs commands that may take seconds or hours, and loses nothing of them.

How to use it:
1. \`start\` a command: it answers at once with an execution_id.
2. \`wait\` with that id until \`ended\` is true. Each call waits at most 45 seconds and shows the
   newest output; "still running" is no error, call it again.
3. \`output\` reads what it wrote: page by page, the last lines, or the lines that match a pattern.
For something short, \`run\` does all three in one call.

An execution belongs to nobody's connection: it goes on when a call is cut off, when you are
disconnected, and when the client is restarted. \`list\` finds it again. Only \`cancel\` ends it, or
a timeout that was set for it. \`succeeded\` is true for exit code 0 and nothing else; before you
report that something passed, \`verify\` it against the record.`
