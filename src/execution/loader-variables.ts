import { matchesName, wordsOf } from "./argument-rule.ts"
import { isMarker, markerVariable } from "./trial/check-wrapper.ts"

/**
 * Variables by which a loader, an interpreter, a shell or a well-known tool finds code or takes
 * options: whoever may set them runs what he likes under the name of an allowed program.
 */
const loaderFamilies = [
  // Linkers and the C library.
  "LD_* DYLD_* GCONV_PATH LOCPATH NLSPATH GETCONF_DIR HOSTALIASES RESOLV_HOST_CONF",
  "GLIBC_* MALLOC_*",
  // Languages.
  "BUN_* NODE_* DENO_* npm_* NPM_* PYTHON* PERL* RUBY* GEM_* LUA_* R_* PHP*",
  "JAVA_* JDK_* _JAVA_* CLASSPATH GOFLAGS GOROOT GOPATH GOENV GOTOOL*",
  "CARGO* RUSTC* RUSTFLAGS ERL_* GUILE_* JULIA_* TCLLIBPATH",
  // Shells.
  "BASH* ZDOTDIR ENV SHELLOPTS PS4 IFS PROMPT_COMMAND CDPATH PATH HOME SHELL XDG_* INPUTRC",
  // Terminals and what is read or written on them.
  "TERMINFO* TERMCAP EDITOR VISUAL VIMINIT EXINIT PAGER LESS* BROWSER GTK_* GIO_* QT_*",
  // Tools.
  "GIT_* SSH_* SVN_SSH CC CXX GCC_* COMPILER_PATH MAKEFLAGS MFLAGS MAKEFILES GNUMAKEFLAGS",
  "TAR_OPTIONS PYTEST_* RSYNC_* DOTNET_* PSQLRC PGSYSCONFDIR TF_* AWK*",
  "CURL_HOME WGETRC SYSTEM_WGETRC OPENSSL_* SASL_PATH KRB5_* KUBECONFIG DOCKER_*",
  "AWS_CONFIG_FILE ANSIBLE_* CLAUDE_* CC_EXECUTOR_*",
].flatMap(wordsOf)

/** And every program's own: MANPAGER, SUDO_EDITOR, RSYNC_RSH, NODE's and javac's OPTIONS. */
const loaderEndings = /(?:PAGER|EDITOR|_RSH|_OPTIONS|_OPTS|_PRELOAD|_INIT_FILE|_STARTUP)$/

/** Whether a variable changes which code a program runs, and so would undo an allow-list. */
export function changesWhatRuns(variable: string): boolean {
  return (
    loaderFamilies.some((family) => matchesName(family, variable)) || loaderEndings.test(variable)
  )
}

const baseVariables = wordsOf(
  "PATH HOME USER LOGNAME SHELL LANG LANGUAGE LC_* TZ TERM COLORTERM NO_COLOR TMPDIR",
)

/** Of the service's own environment, what a child gets where an allow-list rules. */
export function isBaseVariable(variable: string): boolean {
  return baseVariables.some((name) => matchesName(name, variable))
}

const word = /^[A-Za-z0-9][A-Za-z0-9._+-]*$/
const count = /^\d{1,6}$/
const locale = /^[A-Za-z0-9][A-Za-z0-9_.@-]*$/
const locales = /^[A-Za-z0-9][A-Za-z0-9_.@:-]*$/
const timeZone = /^:?(?!.*\.\.)[A-Za-z0-9<][A-Za-z0-9<>_+,./:-]*$/

/**
 * What a request may set where an allow-list rules and says nothing of variables: how a program
 * speaks and what it looks like. Harmless are only plain values. A locale or a terminal's name with
 * a slash is a file to load, and a shell that calculates with COLUMNS runs what stands in it.
 */
const harmlessValues: ReadonlyMap<string, RegExp> = new Map([
  ["LANG", locale],
  ["LANGUAGE", locales],
  ...wordsOf(
    "LC_ALL LC_ADDRESS LC_COLLATE LC_CTYPE LC_IDENTIFICATION LC_MEASUREMENT LC_MESSAGES " +
      "LC_MONETARY LC_NAME LC_NUMERIC LC_PAPER LC_TELEPHONE LC_TIME",
  ).map((name) => [name, locale] as const),
  ["TZ", timeZone],
  ["TERM", word],
  ["COLORTERM", word],
  ["NO_COLOR", word],
  ["FORCE_COLOR", word],
  ["CLICOLOR", word],
  ["CLICOLOR_FORCE", word],
  ["COLUMNS", count],
  ["LINES", count],
])

/**
 * Why a request may not give a variable this value; null when it may. `allowed` is the policy's
 * `environment`, null where it has none. A pattern lets no loader through: who wants that must
 * write its name.
 */
export function refusedVariable(
  variable: string,
  value: string,
  allowed: readonly string[] | null,
): string | null {
  // The service's own of every check of a trial: only what prints it reads it.
  if (variable === markerVariable && isMarker(value)) return null
  if (allowed === null) return refusedByDefault(variable, value)
  if (allowed.includes(variable)) return null
  const isMeant = allowed.some((name) => matchesName(name, variable))
  if (isMeant && !changesWhatRuns(variable)) return null
  const why = isMeant
    ? "it changes what runs, and only its full name would allow it"
    : "it is not in the policy's environment"
  return `a request must not set ${variable}: ${why}; ${wayOut(variable)}`
}

function refusedByDefault(variable: string, value: string): string | null {
  const harmless = harmlessValues.get(variable)
  if (harmless === undefined) {
    const why = changesWhatRuns(variable)
      ? "it changes what runs"
      : "it is not known to be harmless"
    return `a request must not set ${variable}: ${why}; ${wayOut(variable)}`
  }
  if (value === "" || harmless.test(value)) return null
  return `a request must not set ${variable} to a value that is not plain; ${wayOut(variable)}`
}

/** In the words of the policy file: a name that is no plain word is quoted there. */
function wayOut(variable: string): string {
  const name = /^\w+$/.test(variable) ? variable : JSON.stringify(variable)
  return `\`environment: [${name}]\` in the policy file would allow it`
}
