/** A small program with faults, and those who review and mend it. */

/** Adds wrongly, is not documented, and cannot divide. */
export const calculator = {
  "calc.sh": '#!/bin/sh\necho "$(( $1 - $2 ))"\n',
  "tests/add.sh": 'test "$(sh calc.sh 2 3)" = 5\n',
  "tests/divide.sh": 'test "$(sh calc.sh / 6 3)" = 2\n',
}

export type GivenFix = {
  id: number | string
  severity: string
  verification?: unknown
  [more: string]: unknown
}

/** As a reviewer writes it. */
export function fixList(id: string, fixes: readonly GivenFix[]): string {
  const component = id.replace(/^[^_]*_/, "")
  const all = fixes.map(({ id: number, severity, ...more }) => {
    const said = { file: "calc.sh", line: 2, issue: `fault ${number}`, fix: "mend it" }
    return { id: number, severity, ...said, ...more }
  })
  const list = { review_id: id, component, date: "2026-11-19", fixes: all }
  return `${JSON.stringify(list, null, 2)}\n`
}

/** True already, can be put right, and cannot. */
export const threeFixes: readonly GivenFix[] = [
  { id: 1, severity: "minor", verification: "grep -q '^#!' calc.sh" },
  { id: 2, severity: "critical", verification: "sh tests/add.sh" },
  { id: 3, severity: "major", verification: "sh tests/divide.sh" },
]

/** Mends what it can, and says that all is done. */
export const fixer = `cat > /dev/null
case $WORK_ITEM in
  2) printf '#!/bin/sh\\necho "$(( $1 + $2 ))"\\n' > calc.sh ;;
esac
echo "FIXED: all of it. Exit 0, ALL PASSED"
`

/** Runs the usage checks, names them, and delivers a list that stands in `list.json`. */
export const reviewer = `cat > "$OUTSIDE/prompt-$(ls "$OUTSIDE" | grep -c prompt)"
"$PROGRAM" review usage "$WORK_FILE" > "$OUTSIDE/usage"
id=$(grep -o '[a-z2-7]\\{26\\}' "$OUTSIDE/usage" | head -n 1)
mkdir -p "$(dirname "$REVIEW_FIXES")"
cp "$OUTSIDE/list.json" "$REVIEW_FIXES"
cat > "$REVIEW_FEEDBACK" <<END
# Feedback

Execution $id ended with exit 0:

~~~text
-1
~~~
END
`
