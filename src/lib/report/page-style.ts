/** Light and dark by what the reader's system prefers. */
export const pageStyle = `
:root { color-scheme: light dark; --ground: #f6f7f9; --paper: #fff; --text: #1d2430;
  --quiet: #667085; --line: #e3e6eb; --good: #17803d; --bad: #c02626; --accent: #2563a8 }
@media (prefers-color-scheme: dark) {
  :root { --ground: #0d1117; --paper: #161b22; --text: #e6edf3; --quiet: #9aa4b2;
    --line: #2b323c; --good: #4cc38a; --bad: #ff7b72; --accent: #79b8ff }
}
* { box-sizing: border-box }
body { margin: 0; background: var(--ground); color: var(--text);
  font: 15px/1.5 system-ui, sans-serif }
main { max-width: 1000px; margin: 0 auto; padding: 32px 20px 64px }
h1 { font-size: 28px; margin: 0 } h2 { font-size: 18px; margin: 0 0 12px }
header p { color: var(--quiet); margin: 4px 0 20px } small { color: var(--quiet); font-weight: 400 }
section { background: var(--paper); border: 1px solid var(--line); border-radius: 10px;
  padding: 18px 20px; margin-top: 18px }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 12px }
.tile { background: var(--paper); border: 1px solid var(--line); border-radius: 10px;
  padding: 12px 16px }
.tile b { display: block; font-size: 24px; font-variant-numeric: tabular-nums }
.tile span { color: var(--quiet); font-size: 13px }
.tile.good b { color: var(--good) } .tile.bad b { color: var(--bad) }
.scroll { overflow-x: auto } .scroll + .scroll { margin-top: 14px }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums }
th, td { padding: 5px 12px 5px 0; text-align: right; border-bottom: 1px solid var(--line) }
tr > :first-child { text-align: left } tbody tr:last-child td { border-bottom: 0 }
th { color: var(--quiet); font-size: 13px; font-weight: 600 }
a { color: var(--accent); text-decoration: none } a:hover { text-decoration: underline }
.badge { display: inline-block; padding: 0 9px; border-radius: 99px; font-size: 12px;
  font-weight: 600; border: 1px solid currentColor; color: var(--bad) }
.badge.passed { color: var(--good) }
.note { color: var(--quiet); margin: 0 0 8px }
.error { overflow: auto; max-height: 420px; color: var(--bad); font-size: 13px; padding: 12px;
  margin: 0 0 12px; border: 1px solid var(--line); border-radius: 8px }
.plots { display: grid; gap: 14px; margin-top: 14px } .plots:empty { display: none }
.plots svg { width: 100%; height: auto; max-width: 760px; margin: 0 auto }
`
