/** Programs by which a text is known to be a command: what tests, runs and looks at files. */
export const interpretersAndTools: ReadonlySet<string> = new Set(
  [
    "test [ [[ true false : cd set grep egrep fgrep rg cat head tail wc sort uniq cut tr sed awk",
    "diff cmp ls stat file sha256sum md5sum jq yq xargs env timeout command",
    "sh bash dash zsh python python3 node nodejs deno bun ruby perl php lua java go rustc",
    "pytest py.test tox nox unittest jest vitest mocha rspec bats prove ctest",
    "npm npx yarn pnpm make just rake cargo gradle mvn uv poetry pip docker podman kubectl",
    "curl wget nc git gcc cc clang tsc eslint ruff mypy flake8 black biome shellcheck markdownlint",
    "cc-executor pgrep ps ss lsof",
  ].flatMap((line) => line.split(" ")),
)
